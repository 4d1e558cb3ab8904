// The board's page: moves weights, ranks at once, and keeps the address, the charts and the words in step.

import { Table, element, fill } from "./board_table.js";
import { citation, showAggregations, showLeader, showSure, showWorth } from "./board_panels.js";
import { State } from "./board_state.js";
import { linkScatter, showScatter } from "./board_scatter.js";

const root = document.getElementById("board");
const words = JSON.parse(root.dataset.words);
const titles = JSON.parse(root.dataset.titles);
const presets = JSON.parse(root.dataset.presets);
const top = Number(root.dataset.top);
const api = `/api/v1/tasks/${encodeURIComponent(root.dataset.task)}/board`;
const byId = (id) => document.getElementById(id);
const part = () => {
  const here = new URLSearchParams(location.search);
  return new URLSearchParams(["tag", "language", "seeds", "live"].filter((name) => here.get(name)).map((name) => [name, here.get(name)]));
};

let state;
let table;
let etag = "";
let waiting;
let drawing;
let asked = 0;

function sliders() {
  const most = Math.max(...Object.values(state.weights), 1e-9);
  // The largest weight stands at half of the slider, so that every one can still be raised.
  const scale = top / 2 / most;
  for (const input of root.querySelectorAll("[data-axis]")) input.value = state.weights[input.dataset.axis] * scale;
  for (const input of root.querySelectorAll("[data-dataset]")) input.value = state.datasets[input.dataset.dataset];
  byId("base-metric").value = state.base;
  byId("epsilon").value = state.epsilon ?? "";
}

function readSliders() {
  for (const input of root.querySelectorAll("[data-axis]")) state.weights[input.dataset.axis] = Number(input.value);
}

function outputs() {
  for (const input of root.querySelectorAll("[data-axis]")) {
    const c = state.axes.findIndex((axis) => axis.name === input.dataset.axis);
    const share = Number((100 * state.found.shares[c]).toFixed(1));
    input.nextElementSibling.textContent = `${share} %`;
    input.setAttribute("aria-valuetext", fill(words.weight, { percent: `${share} %` }));
  }
  const total = state.dataWeights().reduce((sum, weight) => sum + weight, 0);
  for (const input of root.querySelectorAll("[data-dataset]")) {
    const share = Number(((100 * state.datasets[input.dataset.dataset]) / total).toFixed(1));
    input.nextElementSibling.textContent = `${share} %`;
    input.setAttribute("aria-valuetext", fill(words.weight, { percent: `${share} %` }));
  }
}

/** Rank and show; this runs on every movement of a slider. */
function update() {
  const started = performance.now();
  const refused = state.rank();
  byId("board-refused").hidden = !refused;
  byId("board-refused").textContent = refused ? words[refused] : "";
  if (refused) return;
  const ranked = performance.now();
  table.show();
  outputs();
  root.dataset.computeMs = (ranked - started).toFixed(3);
  root.dataset.showMs = (performance.now() - ranked).toFixed(3);
  clearTimeout(drawing);
  drawing = setTimeout(() => table.finish(), 40);
  clearTimeout(waiting);
  waiting = setTimeout(settle, 350);
}

/** When the hand rests: the address, the words, what the server knows of this view. */
function settle() {
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
  more();
  mark();
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

function more() {
  const left = state.order.length - table.limit;
  document.querySelector(".board-more").hidden = left <= 0;
  byId("board-count").textContent = left > 0 ? `${table.limit} / ${state.order.length}` : "";
}

async function get(path, query) {
  const answer = await fetch(`${api}${path}?${query}`);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer;
}

async function ask(query) {
  const number = (asked += 1);
  const answers = await Promise.all(["/uncertainty", "/sensitivity"].map((path) => get(path, query).then((answer) => answer.json())));
  if (number !== asked) return; // a newer view is on its way
  const [sure, sensitivity] = answers;
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
  const answer = await get("/aggregations", query);
  showAggregations(byId("aggregations-table"), await answer.json(), words);
}

function redraw() {
  showScatter(byId("scatter"), state, titles, byId("scatter-x").value, byId("scatter-y").value);
  const front = [...state.front(byId("scatter-x").value, byId("scatter-y").value)].map((m) => state.models[m].name);
  byId("scatter-front").textContent = `${words.pareto}: ${front.slice(0, 12).join(", ")}`;
}

/** Data set weights, ε or the base metric changed: values and rates are made anew. */
function reweigh() {
  state.stale = true;
  table.sure = null;
  if (state.rank()) return update();
  table.scale = null;
  table.forget();
  update();
  redraw();
}

function take(view) {
  state.take(view);
  sliders();
  reweigh();
}

function listen() {
  root.addEventListener("input", (event) => {
    if (event.target.dataset.axis) {
      readSliders();
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
    } else if (event.target.id === "scatter-x" || event.target.id === "scatter-y") redraw();
  });
  root.addEventListener("click", (event) => {
    const preset = event.target.closest("[data-preset]");
    const fork = event.target.closest("[data-fork]");
    if (preset) take({ weights: presets.find((one) => one.name === preset.dataset.preset).weights });
    if (fork) take(JSON.parse(fork.dataset.fork));
  });
  byId("board-more").addEventListener("click", () => {
    table.limit += table.step;
    table.show();
    table.finish();
    more();
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
    for (const name of ["weights", "datasets", "epsilon", "base"]) addHidden(event.target, name, query.get(name) ?? "");
    addHidden(event.target, "query", location.search);
  });
  document.addEventListener("quintain:theme", redraw);
}

function addHidden(form, name, value) {
  form.querySelector(`input[type=hidden][name=${name}]`)?.remove();
  form.append(element("input", { type: "hidden", name, value }));
}

async function start() {
  const answer = await get("", part());
  etag = answer.headers.get("etag") ?? "";
  state = new State(await answer.json());
  state.read(new URLSearchParams(location.search));
  table = new Table(state, byId("board-rows"), words, api);
  table.titles = titles;
  sliders();
  listen();
  update();
  redraw();
  linkScatter(byId("scatter"), byId("board-rows"));
  root.dataset.ready = "true";
}

start();
