// What stands in the rows of the board: rank, name, score, and a cell per axis with its value, bar and interval.

import { Details, about, gapTexts } from "./board_details.js";
import { barPaths, digits, drawBar, drawMark, element, exact, fill, makeBar, makeMark, write } from "./board_dom.js";
import { number } from "./numbers.js";
import { Grid } from "./board_grid.js";
import { Rows } from "./board_rows.js";

/** That a row stands in for a newer version, and how far the runs of that one are. */
function newerText(model, words) {
  const { needed, waiting } = model.newer.runs;
  return fill(words.newer, { version: model.version, newer: model.newer.model.split("@").pop(), done: needed - waiting, needed });
}

export class Table {
  constructor(state, place, words, titles, base, styles) {
    Object.assign(this, { state, words, titles, styles });
    this.details = new Details(state, words, titles, base);
    this.sure = null;
    this.lit = undefined;
    this.forget();
    this.rows = new Rows(place.scroller, place.body, 3 + state.axes.length, {
      make: () => this.make(),
      letter: (slot, m, fresh) => this.letter(slot, m, fresh),
      moved: () => this.grid?.sync(),
    });
    place.table.setAttribute("aria-rowcount", String(state.models.length + 2));
    this.grid = new Grid(this.rows, place.tip, (slot, column) => this.about(slot.model, column));
  }

  show() {
    this.rows.show(this.state.order, this.stale);
    this.stale = false;
  }

  /** Values changed (data sets were weighed anew): figures and scales are made anew, and all cells lettered. */
  forget() {
    this.figures = new Map();
    this.cells = new Map();
    this.tops = null;
    this.stale = true;
  }

  figure(m, c) {
    const key = m * this.state.axes.length + c;
    let found = this.figures.get(key);
    if (found === undefined) this.figures.set(key, (found = this.state.figure(m, c)));
    return found;
  }

  /** What the cells of a model say and draw: made once, then only written. */
  cellsOf(m) {
    let found = this.cells.get(m);
    if (found) return found;
    const { state, words } = this;
    found = state.axes.map((_, c) => {
      const value = state.values[c][m];
      if (Number.isNaN(value)) return { text: this.absent(m, c), paths: null };
      return { text: digits(value), paths: barPaths(this.figure(m, c), this.top(c)) };
    });
    this.cells.set(m, found);
    return found;
  }

  /** What stands where nothing ranks: what was measured elsewhere, or why there is nothing. */
  absent(m, c) {
    const { state, words } = this;
    if (state.cannot[c][m]) return words.cannot;
    const value = state.elsewhere(m, c);
    return Number.isNaN(value) ? words.none : `${digits(value)} (${words.not_ranked})`;
  }

  /** What fills a bar: the whole where there is one, the cap, or the most that any model has. */
  top(c) {
    this.tops ??= this.state.axes.map((axis, at) => {
      if (axis.unit === "%") return 100;
      if (axis.cap !== null && axis.cap !== undefined) return axis.cap;
      return this.state.values[at].reduce((top, value) => (value > top ? value : top), 0);
    });
    return this.tops[c];
  }

  make() {
    const toggle = element("button", { class: "board-toggle", type: "button", tabindex: "-1", "aria-expanded": "false" }, element("span", { "aria-hidden": "true" }, "▸"));
    const name = element("span", { class: "board-called" });
    const mark = makeMark();
    const chips = element("span", { class: "board-chips" });
    const rank = element("td", { class: "board-rank", tabindex: "-1" }, "");
    const text = document.createTextNode("");
    const score = element("td", { class: "number board-score", tabindex: "-1" }, text);
    const cells = this.state.axes.map(() => {
      const text = document.createTextNode("");
      const bar = makeBar();
      return { cell: element("td", { class: "board-cell", tabindex: "-1" }, text, bar), text, bar };
    });
    const heading = element("th", { scope: "row", class: "board-name" }, element("div", {}, toggle, mark, element("span", { class: "board-who" }, name, chips)));
    const row = element("tr", { class: "board-row" }, rank, heading, score, ...cells.map(({ cell }) => cell));
    const slot = { row, rank, score, text, toggle, mark, name, chips, cells, stops: [rank, toggle, score, ...cells.map(({ cell }) => cell)] };
    toggle.addEventListener("click", () => this.toggle(slot));
    return slot;
  }

  /** Write a model into a row; what it shares with the one before is left as it is. */
  letter(slot, m, fresh) {
    const { state } = this;
    if (fresh) this.letterModel(slot, m);
    const rank = state.found.ranks[m];
    const sure = this.sure?.get(state.models[m].ref);
    const range = rank && sure?.rank.value === rank ? ` (${between(sure.rank)})` : "";
    write(slot.rank, rank ? `${rank}${range}` : "–");
    const start = Boolean(sure && rank > 1 && sure.first);
    if (slot.start !== start) slot.row.classList.toggle("group-start", (slot.start = start));
    this.letterScore(slot, state.found.scores[m], rank ? "" : this.whys(m).join("; ") || this.reason(m));
  }

  letterScore(slot, score, reason) {
    if (!reason) {
      if (slot.reason) slot.score.replaceChildren(slot.text);
      const text = number(score, Math.abs(score) < 1000 ? 2 : 1);
      if (slot.text.data !== text) slot.text.data = text;
    } else if (slot.reason !== reason) {
      slot.score.replaceChildren(element("span", { class: "chip" }, this.words.unranked), element("span", { class: "board-reason", title: reason }, reason));
    }
    slot.reason = reason;
  }

  letterModel(slot, m) {
    const { state, words } = this;
    const model = state.models[m];
    slot.row.dataset.ref = model.ref;
    slot.row.classList.toggle("lit", model.ref === this.lit);
    write(slot.name, model.name);
    drawMark(slot.mark, this.styles[model.name]);
    slot.toggle.setAttribute("aria-label", fill(words.details, { name: model.name }));
    const open = this.rows.unfolded.has(m) ? "true" : "false";
    if (slot.toggle.getAttribute("aria-expanded") !== open) slot.toggle.setAttribute("aria-expanded", open);
    const chips = this.marks(model);
    if (chips.length || slot.chips.firstChild) {
      slot.chips.replaceChildren(...chips.map((text) => element("span", { class: "chip" }, text)));
      slot.chips.parentElement.classList.toggle("marked", chips.length > 0);
    }
    this.cellsOf(m).forEach(({ text, paths }, c) => {
      const one = slot.cells[c];
      if (one.text.data !== text) one.text.data = text;
      if (one.none !== !paths) one.cell.classList.toggle("none", (one.none = !paths));
      if (paths) drawBar(one.bar, paths);
    });
  }

  marks(model) {
    const { words } = this;
    const marks = [];
    if (model.predictions_only) marks.push(words.predictions_only);
    if (model.visibility !== "public") marks.push(words[model.visibility]);
    if (model.seeds.length) marks.push(fill(words.seeds, { n: model.seeds.length }));
    if (model.newer) marks.push(newerText(model, words));
    return marks;
  }

  /** What a cell has to say to whoever points at it or comes by with the keys. */
  about(m, column) {
    const { state, words } = this;
    const model = state.models[m];
    const rank = state.found.ranks[m];
    if (column === 0) {
      const sure = this.sure?.get(model.ref);
      if (!rank) return [words.unranked, this.reason(m)];
      return sure?.rank.value === rank ? [fill(words.rank_between, { rank, range: between(sure.rank) })] : [fill(words.place, { rank, name: model.name })];
    }
    if (column === 1) return [model.ref, ...this.marks(model), ...(model.predictions_only ? [words.predictions_only_why] : [])];
    if (column === 2) return rank ? [`${words.dynascore}: ${exact(state.found.scores[m])}`] : [words.unranked, this.reason(m)];
    const c = column - 3;
    const { name, unit } = state.axes[c];
    const figure = this.figure(m, c);
    if (!figure) return [`${this.titles[name]}: ${this.absent(m, c)}`, ...gapTexts(state.gaps(m, c), words)];
    return [`${this.titles[name]}: ${exact(figure.value)}${unit ? ` ${words[unit] ?? unit}` : ""}`, ...about(figure, words)];
  }

  reason(m) {
    const { state, words, titles } = this;
    const axis = state.axes.find((one) => one.name === state.beyond[m]);
    const why = axis
      ? fill(words.beyond, { axis: titles[axis.name], cap: `${axis.cap} ${words[axis.unit] ?? axis.unit}` })
      : fill(words.missing, { axes: (state.found.missing[m] ?? []).map((name) => titles[name]).join(", ") });
    const texts = this.whys(m);
    return texts.length ? `${why} (${texts.join("; ")})` : why;
  }

  /** Why the figures are missing that a model is unranked for; a row has room for no more than this. */
  whys(m) {
    const gone = this.state.found.missing[m] ?? [];
    return gapTexts(this.state.axes.flatMap(({ name }, c) => (gone.includes(name) ? this.state.gaps(m, c) : [])), this.words);
  }

  toggle(slot) {
    const open = !this.rows.unfolded.has(slot.model);
    slot.toggle.setAttribute("aria-expanded", open ? "true" : "false");
    this.rows.unfold(slot.model, open ? this.details.make(slot.model) : null);
  }

  /** Mark the row of one model, as long as it is pointed at here or in a chart. */
  light(ref) {
    if (this.lit === ref) return;
    this.lit = ref;
    for (const { row } of this.rows.slots.values()) row.classList.toggle("lit", row.dataset.ref === ref);
  }
}

const between = ({ low, high }) => (low === high ? `${low}` : `${low}–${high}`);
