// What a row opens to: the model on each data set, its slices, and its results for other tools.

import { bar, digits, element, fill } from "./board_dom.js";
import { number, percent } from "./numbers.js";

/** What a figure rests on, in words: the exact interval, n, the spread over seeds, when, and on what. */
export function about(figure, words) {
  const parts = [];
  if (figure.low !== null && figure.low !== undefined) parts.push(fill(words.interval, { low: digits(figure.low), high: digits(figure.high) }));
  if (figure.failed) parts.push(fill(words.failed, { n: number(figure.failed), worst: digits(figure.worst), best: digits(figure.best) }));
  if (figure.n) parts.push(fill(words.examples, { n: number(figure.n) }));
  for (const [name, n] of Object.entries(figure.outcomes ?? {})) {
    if (n && name !== "answered") parts.push(fill(words[`outcome_${name}`] ?? name, { n: number(n) }));
  }
  if (figure.method) parts.push(figure.method);
  if (figure.pairs) parts.push(fill(words.pairs, { n: number(figure.pairs), kinds: figure.kinds }));
  if (figure.spread) parts.push(fill(words.spread, { spread: digits(figure.spread), n: figure.seeds ?? "" }));
  if (figure.at) parts.push(fill(words.measured, { at: figure.at.replace("T", " ").slice(0, 16) }));
  if (figure.machine) parts.push(typeof figure.machine === "string" ? figure.machine : Object.values(figure.machine)[0]);
  if (figure.busy) parts.push(fill(words.busy, { share: percent(figure.busy) }));
  if (figure.without) parts.push(fill(words.without, { layers: figure.without.join(", ") }));
  return parts;
}

/** Why figures are missing, each reason once. */
export const gapTexts = (gaps, words) => [...new Set(gaps.map((gap) => fill(words[`gap_${gap.kind}`] ?? gap.text, gap)))];

export class Details {
  constructor(state, words, titles, base) {
    Object.assign(this, { state, words, titles, base });
  }

  /** Make the row of a model; its slices are asked for when it is. */
  make(m) {
    const { state, words, titles } = this;
    const head = element("tr", {}, element("th", { scope: "col" }, words.dataset), ...state.axes.map((axis) => element("th", { scope: "col" }, titles[axis.name])));
    const lines = [...this.pooled(m), ...state.board.datasets.map((dataset, d) => this.line(m, dataset.ref, (axis, model) => model.values[axis.name]?.[d], d))];
    const table = element("table", { class: "board-sets" }, element("thead", {}, head), element("tbody", {}, ...lines));
    const slices = element("div", { class: "board-slices" });
    const inside = element("div", { class: "board-detail" }, element("div", { class: "board-sets-scroll" }, table), slices, this.links(state.models[m]));
    const row = element("tr", { class: "board-details" }, element("td", { colspan: String(3 + state.axes.length) }, inside));
    this.slices(m, slices);
    return row;
  }

  /** The line of what has one figure over all rounds, rather than one per data set. */
  pooled(m) {
    const { state, words } = this;
    if (!state.axes.some((axis) => axis.pooled)) return [];
    return [this.line(m, words.all_rounds, (axis, model) => (axis.pooled ? model.pooled?.[axis.name] : undefined))];
  }

  line(m, name, figureOf, d) {
    const { state, words } = this;
    const model = state.models[m];
    const cells = state.axes.map((axis) => {
      const figure = figureOf(axis, model);
      const gap = figure || d === undefined ? null : model.gaps?.[axis.name]?.[d];
      if (gap) {
        const shown = gap.figure ? element("b", { class: "muted" }, digits(gap.figure.value)) : null;
        const parts = [...gapTexts([gap], words), ...(gap.figure ? [words.not_ranked] : [])];
        return element("td", { class: "muted" }, shown, element("span", { class: "board-about" }, parts.join(" · ")));
      }
      if (figure) return element("td", {}, element("b", {}, digits(figure.value)), element("span", { class: "board-about" }, about(figure, words).join(" · ")));
      // A figure that is not taken per data set, or not over rounds, is not missing there.
      const meant = Boolean(axis.pooled) === (name === words.all_rounds);
      return element("td", { class: "muted" }, !meant ? "" : model.cannot.includes(axis.name) ? words.cannot : words.none);
    });
    return element("tr", {}, element("th", { scope: "row" }, name), ...cells);
  }

  links(model) {
    const page = `/tasks/${this.state.board.task}/models/${model.name}`;
    const format = (kind) => `${this.base}/export?format=${kind}&model=${encodeURIComponent(model.ref)}`;
    return element(
      "p",
      { class: "row small" },
      model.seeds.length ? null : element("a", { href: page }, this.words.model_page),
      element("a", { href: format("harness"), download: true }, "lm-evaluation-harness"),
      element("a", { href: format("model-index"), download: true }, "model-index"),
    );
  }

  async slices(m, place) {
    const { state, words } = this;
    const query = new URLSearchParams();
    if (state.board.language) query.set("language", state.board.language);
    const answer = await fetch(`${this.base}/models/${encodeURIComponent(state.models[m].name)}?${query}`);
    if (!answer.ok) {
      place.textContent = words.failed;
      return;
    }
    const { slices } = await answer.json();
    const sets = Object.entries(slices).filter(([, pieces]) => pieces.length);
    place.replaceChildren(...sets.map(([name, pieces]) => this.set(name, pieces)));
  }

  set(name, pieces) {
    const { state, words } = this;
    const top = state.axes[0].unit === "%" ? 100 : Math.max(...pieces.map((one) => one.high ?? one.value));
    const items = pieces.map((piece) =>
      element(
        "li",
        {},
        element("span", { class: "bar-name" }, piece.name),
        element("div", { class: "bar-cell" }, bar(piece, top), element("span", { class: "number" }, digits(piece.value))),
        element("span", { class: "board-about" }, about(piece, words).join(" · ")),
      ),
    );
    return element("div", {}, element("p", { class: "board-subtitle" }, `${words.slices}: ${name}`), element("ul", { class: "bar-list board-bars" }, ...items));
  }
}
