// Two axes against each other. The chart is drawn by Vega-Lite from the server's specification; here it gets its data
// and is tied to the table: pointing at a row shows its point, and the other way round.

import { element, isFew } from "./board_dom.js";
import { colour, drawCharts } from "./charts.js";

// Beyond, each point as an element of the page would weigh on every frame that the table makes.
const ELEMENTS = 150;
const UNKNOWN = ["#7d8797", "circle"];

export function showScatter(place, state, titles, words, styles, [x, y]) {
  const spec = JSON.parse(place.dataset.chart);
  const [cx, cy] = [x, y].map((name) => state.axes.findIndex((axis) => axis.name === name));
  const front = state.front(x, y);
  spec.data.values = state.models.flatMap((model, m) => {
    const [one, two] = [state.values[cx][m], state.values[cy][m]];
    if (Number.isNaN(one) || Number.isNaN(two)) return [];
    const counts = [cx, cy].map((c) => state.figure(m, c)?.n).filter((n) => n > 0);
    const n = counts.length ? Math.min(...counts) : null;
    const [drawn, mark] = styles[model.name] ?? UNKNOWN;
    return [{ ref: model.ref, name: model.name, x: one, y: two, front: front.has(m), n, few: isFew(n), colour: drawn, mark }];
  });
  const points = hollow(spec);
  if (!spec.data.values.length) {
    place.replaceChildren(element("p", { class: "muted" }, words.none));
    delete place.dataset.spec;
    return;
  }
  for (const [channel, c, name] of [["x", cx, x], ["y", cy, y]]) {
    const { unit, lower } = state.axes[c];
    spec.encoding[channel].title = `${titles[name]}${unit ? ` (${words[unit] ?? unit})` : ""}`;
    // Better is always further up and to the right.
    const scale = spec.encoding[channel].scale;
    scale.reverse = lower;
    const known = spec.data.values.map((row) => row[channel]);
    // What spans orders of magnitude is only legible on a logarithmic scale.
    if (!lower && known.length && Math.min(...known) > 0 && Math.max(...known) > 50 * Math.min(...known)) {
      Object.assign(scale, { type: "log" });
      delete scale.zero;
      Object.assign(spec.encoding[channel].axis, { format: "~s", values: powers(known) });
    }
    for (const layer of points) layer.encoding.tooltip[channel === "x" ? 1 : 2].title = titles[name];
  }
  sides(spec.data.values, state.axes[cx].lower, spec.encoding.x.scale.type === "log");
  for (const layer of points) layer.encoding.stroke.condition.value = colour("--verdict-mark");
  place.dataset.renderer = spec.data.values.length > ELEMENTS ? "canvas" : "svg";
  place.dataset.spec = JSON.stringify(spec);
  drawCharts(place.parentElement);
}

/** Give the layers of points: those that are settled and those of few examples, without one that would stay empty. */
function hollow(spec) {
  const { values } = spec.data;
  if (!values.some(({ few }) => few)) delete spec.title;
  const empty = [["datum.few", values.every(({ few }) => !few)], ["!datum.few", values.every(({ few }) => few)]];
  const unused = new Set(empty.filter(([, none]) => none).map(([test]) => test));
  spec.layer = spec.layer.filter(({ transform }) => !transform?.some(({ filter }) => unused.has(filter)));
  return spec.layer.filter(({ mark }) => mark.type === "point");
}

/** The powers of ten that the values lie between: lines at every step of a logarithm are a thicket. */
function powers(values) {
  const [first, last] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  return Array.from({ length: last - first + 1 }, (_, step) => 10 ** (first + step));
}

/** Points in the right half have their names to the left. */
function sides(rows, reversed, log) {
  const known = rows.map((row) => row.x);
  const middle = log ? Math.sqrt(Math.min(...known) * Math.max(...known)) : (Math.min(...known) + Math.max(...known)) / 2;
  for (const row of rows) {
    const right = rows.length > 1 && (reversed ? row.x < middle : row.x > middle);
    row.before = row.front && right ? row.name : "";
    row.after = row.front && !right ? row.name : "";
  }
}

/** Tie chart and table together: pointing at a model in the one shows it in the other. */
export function linkScatter(place, table) {
  const { body } = table.rows;
  let view = null;
  const light = (ref) => {
    if (ref === table.lit) return;
    table.light(ref);
    view?.signal("lit", ref ?? "").runAsync();
  };
  place.addEventListener("quintain:drawn", ({ detail }) => {
    view = detail;
    view.addEventListener("pointerover", (_, item) => light(item?.datum?.ref));
  });
  const over = (event) => light(event.target.closest?.("tr[data-ref]")?.dataset.ref);
  body.addEventListener("pointerover", over);
  body.addEventListener("focusin", over);
  for (const side of [body, place]) side.addEventListener("pointerleave", () => light(undefined));
}
