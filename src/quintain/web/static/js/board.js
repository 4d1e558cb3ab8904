// The board's page: moves weights, ranks at once, and keeps the address, the charts and the words in step.

import { citation, showAggregations, showLeader, showSure, showWorth } from "./board_panels.js";
import { element, fill, write } from "./board_dom.js";
import { showGround } from "./board_ground.js";
import { showRounds } from "./board_rounds.js";
import { linkScatter, showScatter } from "./board_scatter.js";
import { Sliders } from "./board_sliders.js";
import { State } from "./board_state.js";
import { Table } from "./board_table.js";

const root = document.getElementById("board");
const words = JSON.parse(root.dataset.words);
const titles = JSON.parse(root.dataset.titles);
const presets = JSON.parse(root.dataset.presets);
const styles = JSON.parse(root.dataset.styles);
const top = Number(root.dataset.top);
const api = `/api/v1/tasks/${encodeURIComponent(root.dataset.task)}/board`;
const byId = (id) => document.getElementById(id);
const part = () => {
  const here = new URLSearchParams(location.search);
  return new URLSearchParams(["tag", "language", "seeds", "live"].filter((name) => here.get(name)).map((name) => [name, here.get(name)]));
};

// Safari knows no idle time.
const requestIdle = window.requestIdleCallback ?? ((work) => setTimeout(work, 100));
const cancelIdle = window.cancelIdleCallback ?? clearTimeout;

const BESIDE = window.matchMedia("(min-width: 1560px)"); // as in the stylesheet

let state;
let table;
let sliders;
let etag = "";
let waiting;
let frame = 0;
let drawn = null;
let drawing = 0;
let asked = 0;

/** Set what the reader sees by what is chosen. */
function setControls() {
  sliders.set();
  byId("base-metric").value = state.base;
  byId("epsilon").value = state.epsilon ?? "";
  byId("rate-kind").value = state.kind;
}

/** However often a slider reports within a frame, it is ranked and shown once. */
function update() {
  frame ||= requestAnimationFrame(show);
}

function show() {
  frame = 0;
  performance.mark("board:start");
  const anew = state.stale;
  const refused = state.rank();
  byId("board-refused").hidden = !refused;
  byId("board-refused").textContent = refused ? words[refused] : "";
  if (refused) {
    showNothing();
    return;
  }
  performance.measure("board:compute", "board:start");
  if (anew) {
    table.sure = null;
    table.forget();
  }
  table.show();
  sliders.say();
  showProvisional();
  showGround(state, titles, words);
  performance.measure("board:show", "board:start");
  clearTimeout(waiting);
  waiting = setTimeout(settle, 350);
}

/** Nothing can be ranked: no order of before is left standing, and nobody is asked about it. */
function showNothing() {
  clearTimeout(waiting);
  cancelIdle(drawing);
  asked += 1;
  table.sure = null;
  table.forget();
  table.show();
  sliders.say();
  showGround(null, titles, words);
  for (const id of ["board-worth", "sure-pairs", "sure-matrix", "sure-leader"]) byId(id).replaceChildren();
  byId("aggregations-table").replaceChildren();
  byId("scatter-front").textContent = "";
  byId("scatter").replaceChildren();
  byId("cite").textContent = "";
  byId("board-said").textContent = byId("board-refused").textContent;
  drawn = null;
}

/** Until all runs are there that the view rests on, the order may change, and there may be none: say so. */
function showProvisional() {
  const runs = state.runs();
  const ranked = state.found.ranks.some(Boolean);
  byId("board-provisional").hidden = !runs.waiting && (ranked || !runs.needed);
  const [partly, none] = runs.waiting ? [words.provisional, words.none_waiting] : ["", words.none_lacking];
  write(byId("board-provisional").querySelector("p"), fill(ranked ? partly : none, runs));
}

/** When the hand rests: the address, the words, what the server knows of this view. */
function settle() {
  performance.clearMarks("board:start");
  for (const name of ["board:compute", "board:show"]) performance.clearMeasures(name);
  const query = new URLSearchParams([...part(), ...state.query()]);
  // Colons and commas may stand in a query as they are, and read better so.
  const readable = `${query}`.replaceAll("%3A", ":").replaceAll("%2C", ",");
  history.replaceState(null, "", readable ? `?${readable}` : location.pathname);
  showWorth(byId("board-worth"), state, titles, words);
  byId("cite").textContent = citation(state, etag, location.href);
  for (const link of document.querySelectorAll("[data-export]")) {
    link.href = `${api}/export?${new URLSearchParams([...query, ["format", link.dataset.export]])}`;
  }
  announce();
  mark();
  if (drawn !== state.values) whenIdle(redraw);
  ask(query);
}

function announce() {
  const ranked = state.order.filter((m) => state.found.ranks[m]).slice(0, 5);
  const order = ranked.map((m) => fill(words.place, { rank: state.found.ranks[m], name: state.models[m].name })).join(", ");
  byId("board-said").textContent = fill(words.order, { order });
}

function mark() {
  const normal = (weights) => {
    const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0);
    return state.axes.map(({ name }) => (weights[name] ?? 0) / total);
  };
  const now = normal(state.weights);
  const same = (weights) => normal(weights).every((share, c) => Math.abs(share - now[c]) < 0.005);
  for (const button of root.querySelectorAll("[data-preset]")) {
    const preset = presets.find((one) => one.name === button.dataset.preset);
    button.setAttribute("aria-pressed", same(preset.weights) ? "true" : "false");
  }
}

async function get(path, query) {
  const answer = await fetch(`${api}${path}?${query}`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  etag ||= answer.headers.get("etag") ?? "";
  return answer.json();
}

async function ask(query) {
  const number = (asked += 1);
  const answers = ["/uncertainty", "/sensitivity"].map((path) => get(path, query));
  const [sure, sensitivity] = await Promise.all(answers).catch(() => [null, null]);
  if (number !== asked) return; // a newer view is on its way
  byId("sure-failed").hidden = sure !== null;
  if (!sure) return;
  let group = 0;
  table.sure = new Map(
    sure.models.map((model) => {
      const first = model.group !== group;
      group = model.group;
      return [model.model, { ...model, first }];
    }),
  );
  table.show();
  showSure(sure, state, words);
  showLeader(sensitivity, state, titles, words);
  root.dataset.sure = "true";
  if (byId("aggregations").open) await aggregations();
}

async function aggregations() {
  const query = new URLSearchParams([...part(), ...state.query()]);
  const found = await get("/aggregations", query).catch(() => null);
  if (found) showAggregations(byId("aggregations-table"), found, words);
  else byId("aggregations-table").textContent = words.failed;
}

/** A chart of a thousand points takes longer than a frame: it waits until no hand is at work. */
function whenIdle(work) {
  cancelIdle(drawing);
  drawing = requestIdle(() => work());
}

function redraw() {
  if (!state.values || !byId("board-refused").hidden) return; // nothing can be ranked
  const [x, y] = [byId("scatter-x").value, byId("scatter-y").value];
  drawn = state.values;
  showScatter(byId("scatter"), state, titles, words, styles, [x, y]);
  const front = [...state.front(x, y)].map((m) => state.models[m].name);
  byId("scatter-front").textContent = `${words.pareto}: ${front.slice(0, 12).join(", ")}${front.length > 12 ? " …" : ""}`;
}

/** Data set weights, ε or the base metric changed: values and rates are made anew. */
function reweigh() {
  state.stale = true;
  update();
}

function take(view) {
  state.take(view);
  setControls();
  reweigh();
}

function listen() {
  root.addEventListener("input", (event) => {
    if (event.target.dataset.axis) {
      sliders.read();
      update();
    } else if (event.target.dataset.dataset) {
      state.datasets[event.target.dataset.dataset] = Number(event.target.value);
      reweigh();
    } else if (event.target.id === "epsilon") {
      const value = event.target.value === "" ? state.board.epsilon : Number(event.target.value);
      if (value === null || value >= 0) state.epsilon = value;
      reweigh();
    }
  });
  root.addEventListener("change", (event) => {
    if (event.target.id === "base-metric") {
      state.base = event.target.value;
      reweigh();
    } else if (event.target.id === "rate-kind") {
      state.kind = event.target.value;
      reweigh();
    } else if (event.target.id === "scatter-x" || event.target.id === "scatter-y") redraw();
  });
  root.addEventListener("click", (event) => {
    const preset = event.target.closest("[data-preset]");
    const fork = event.target.closest("[data-fork]");
    if (preset) take({ weights: presets.find((one) => one.name === preset.dataset.preset).weights });
    if (fork) take(JSON.parse(fork.dataset.fork));
  });
  byId("aggregations").addEventListener("toggle", (event) => event.target.open && aggregations());
  byId("share").addEventListener("click", async (event) => {
    const button = event.currentTarget;
    await navigator.clipboard?.writeText(location.href);
    button.querySelector("span").textContent = button.dataset.done;
  });
  // A form that keeps the view carries it along.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-view]")) return;
    const query = state.query();
    for (const name of ["weights", "datasets", "epsilon", "base", "rate"]) addHidden(event.target, name, query.get(name) ?? "");
    addHidden(event.target, "query", location.search);
  });
  document.addEventListener("quintain:theme", redraw);
}

function addHidden(form, name, value) {
  form.querySelector(`input[type=hidden][name=${name}]`)?.remove();
  form.append(element("input", { type: "hidden", name, value }));
}

async function start() {
  const board = await get("", part()).catch(() => null);
  byId("board-refused").hidden = board !== null;
  byId("board-refused").textContent = board ? "" : words.failed;
  if (!board) return;
  state = new State(board);
  for (const axis of board.axes) titles[axis.name] ??= axis.title;
  state.read(new URLSearchParams(location.search));
  byId("board-rows").replaceChildren();
  const place = { scroller: byId("board-scroll"), table: byId("board-table"), body: byId("board-rows"), tip: byId("board-tip") };
  table = new Table(state, place, words, titles, api, styles);
  sliders = new Sliders(root, state, words, top);
  setControls();
  listen();
  show();
  linkScatter(byId("scatter"), table);
  // Beside the table, where there is room, the chart shows what the rows show.
  if (BESIDE.matches) byId("trade-offs").open = true;
  redraw();
  showRounds(byId("rounds"), state.board, words);
  root.dataset.ready = "true";
}

start();
