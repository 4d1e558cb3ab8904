// The rows of the board: made once, then only moved and re-lettered, so that a slider can drag them along.

const GLIDE_MS = 180;
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

export function digits(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 1000 ? 0 : size >= 10 || size === 0 ? 1 : 2);
}

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A thin bar with the whisker of its interval; the track is the background of the drawing itself. */
export function bar(figure, top) {
  const at = (value) => (top > 0 ? Math.min(100, Math.max(0, (100 * value) / top)) : 0).toFixed(2);
  const parts = [svg("rect", { class: "fill", width: at(figure.value), height: 6, y: 3 })];
  if (figure.low !== null && figure.high !== null) {
    const [low, high] = [at(figure.low), at(figure.high)];
    parts.push(svg("path", { class: "whisker", d: `M${low} 3V9M${low} 6H${high}M${high} 3V9` }));
  }
  return svg("svg", { class: "thin-bar", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" }, ...parts);
}

export class Table {
  constructor(state, body, words, base) {
    Object.assign(this, { state, body, words, base });
    this.rows = new Map();
    this.open = new Set();
    // Of a long board only the top is laid out, so that a frame stays short; the rest is a button away.
    this.limit = state.models.length > 200 ? 40 : 200;
    this.step = this.limit;
    this.sure = null;
  }

  tops() {
    return this.state.axes.map((axis, c) => {
      if (axis.unit === "%") return 100;
      if (axis.cap !== null) return axis.cap;
      return this.state.values[c].reduce((top, value) => (value > top ? value : top), 0);
    });
  }

  /** Values changed (data sets were weighed anew): every row that was made is made again. */
  forget() {
    for (const { row, detail } of this.rows.values()) {
      row.remove();
      detail?.remove();
    }
    this.rows.clear();
  }

  make(m) {
    const { state, words } = this;
    const model = state.models[m];
    const chips = [];
    if (model.predictions_only) chips.push(element("span", { class: "chip", title: words.predictions_only_why }, words.predictions_only));
    if (model.visibility !== "public") chips.push(element("span", { class: "chip" }, words[model.visibility]));
    if (model.seeds.length) chips.push(element("span", { class: "chip" }, fill(words.seeds, { n: model.seeds.length })));
    const toggle = element(
      "button",
      { class: "board-toggle", type: "button", "aria-expanded": "false", "aria-label": fill(words.details, { name: model.name }) },
      element("span", { "aria-hidden": "true" }, "▸"),
    );
    toggle.addEventListener("click", () => this.toggle(m));
    const rank = element("td", { class: "board-rank" });
    const score = element("td", { class: "number board-score" });
    const name = element("th", { scope: "row", class: "board-name" }, element("div", {}, toggle, element("span", {}, model.name), ...chips));
    const cells = state.axes.map((_, c) => this.cell(m, c));
    const row = element("tr", { "data-ref": model.ref }, rank, name, score, ...cells);
    const made = { row, rank, score, toggle, cells, bare: true, detail: null };
    this.rows.set(m, made);
    return made;
  }

  /** A cell with its number only: enough while a slider moves. */
  cell(m, c) {
    const { state, words } = this;
    const value = state.values[c][m];
    if (Number.isNaN(value)) {
      return element("td", { class: "board-cell none" }, element("span", {}, state.cannot[c][m] ? words.cannot : words.none));
    }
    return element("td", { class: "board-cell" }, digits(value));
  }

  /** Draw the bars of the rows in sight that have none yet. */
  finish() {
    const tops = (this.scale ??= this.tops());
    for (const m of this.state.order.slice(0, this.limit)) {
      const made = this.rows.get(m);
      if (!made?.bare) continue;
      made.bare = false;
      made.cells.forEach((cell, c) => {
        const figure = this.state.figure(m, c);
        if (figure === null) return;
        cell.title = this.about(figure);
        cell.append(bar(figure, tops[c]));
      });
    }
  }

  /** What a figure rests on, in words: n, the exact interval, when. */
  about(figure) {
    const { words } = this;
    const parts = [];
    if (figure.low !== null) parts.push(fill(words.interval, { low: digits(figure.low), high: digits(figure.high) }));
    if (figure.n) parts.push(fill(words.examples, { n: figure.n.toLocaleString(document.documentElement.lang) }));
    if (figure.spread) parts.push(fill(words.spread, { spread: digits(figure.spread), n: figure.seeds ?? "" }));
    if (figure.at) parts.push(fill(words.measured, { at: figure.at.replace("T", " ").slice(0, 16) }));
    if (figure.machine) parts.push(typeof figure.machine === "string" ? figure.machine : Object.values(figure.machine)[0]);
    return parts.join(" · ");
  }

  /** Put the rows into the order of the state; those that stay in sight glide to their new place. */
  show() {
    const { state } = this;
    const shown = state.order.slice(0, this.limit);
    const wanted = [];
    for (const m of shown) {
      const made = this.rows.get(m) ?? this.make(m);
      this.letter(m, made);
      wanted.push(made.row);
      if (made.detail) wanted.push(made.detail);
    }
    const present = [...this.body.children];
    if (present.length === wanted.length && present.every((row, place) => row === wanted[place])) return;
    const before = calm.matches ? null : new Map(present.map((row) => [row, row.offsetTop]));
    this.body.replaceChildren(...wanted);
    if (before?.size) this.glide(wanted, before);
  }

  glide(rows, before) {
    const start = -this.body.parentElement.getBoundingClientRect().top;
    const seen = (top) => top > start - 100 && top < start + window.innerHeight;
    const moves = rows.map((row) => {
      const [from, to] = [before.get(row), row.offsetTop];
      return [row, from !== undefined && (seen(from) || seen(to)) ? from - to : 0];
    });
    for (const [row, by] of moves) {
      if (by) row.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: GLIDE_MS, easing: "ease-out" });
    }
  }

  letter(m, made) {
    const { state, words } = this;
    const rank = state.found.ranks[m];
    const sure = this.sure?.get(state.models[m].ref);
    const range = sure && sure.rank.value === rank ? ` (${sure.rank.low === sure.rank.high ? sure.rank.low : `${sure.rank.low}–${sure.rank.high}`})` : "";
    made.rank.textContent = rank ? `${rank}${range}` : "–";
    made.row.classList.toggle("group-start", Boolean(sure && rank > 1 && sure.first));
    const score = state.found.scores[m];
    made.score.textContent = rank ? score.toFixed(Math.abs(score) < 1000 ? 2 : 1) : "";
    if (!rank) made.score.append(element("span", { class: "chip" }, words.unranked), element("span", { class: "board-reason" }, this.reason(m)));
  }

  reason(m) {
    const { state, words } = this;
    const titles = this.titles;
    const beyond = state.beyond[m];
    const axis = state.axes.find((one) => one.name === beyond);
    const why = axis
      ? fill(words.beyond, { axis: titles[beyond], cap: `${axis.cap} ${axis.unit}` })
      : fill(words.missing, { axes: (state.found.missing[m] ?? []).map((name) => titles[name]).join(", ") });
    return state.models[m].pending ? `${why} (${state.models[m].pending})` : why;
  }

  async toggle(m) {
    const made = this.rows.get(m);
    if (made.detail) {
      made.detail.remove();
      made.detail = null;
    } else {
      made.detail = this.details(m);
      made.row.after(made.detail);
    }
    made.toggle.setAttribute("aria-expanded", made.detail ? "true" : "false");
    if (made.detail) await this.slices(m, made.detail.querySelector(".board-slices"));
  }

  details(m) {
    const { state, words } = this;
    const model = state.models[m];
    const head = element("tr", {}, element("th", { scope: "col" }, words.dataset), ...state.axes.map((axis) => element("th", { scope: "col" }, this.titles[axis.name])));
    const lines = state.board.datasets.map((dataset, d) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, dataset.ref),
        ...state.axes.map((axis) => {
          const figure = model.values[axis.name][d];
          if (!figure) return element("td", { class: "muted" }, model.cannot.includes(axis.name) ? words.cannot : words.none);
          return element("td", {}, element("b", {}, digits(figure.value)), element("span", { class: "board-about" }, this.about(figure)));
        }),
      ),
    );
    const page = `/tasks/${state.board.task}/models/${model.name}`;
    const format = (kind) => `${this.base}/export?format=${kind}&model=${encodeURIComponent(model.ref)}`;
    const links = element(
      "p",
      { class: "row small" },
      model.seeds.length ? null : element("a", { href: page }, words.model_page),
      element("a", { href: format("harness"), download: true }, "lm-evaluation-harness"),
      element("a", { href: format("model-index"), download: true }, "model-index"),
    );
    const table = element("table", { class: "board-sets" }, element("thead", {}, head), element("tbody", {}, ...lines));
    const inside = element("td", { colspan: String(3 + state.axes.length) }, element("div", { class: "board-detail" }, table, element("div", { class: "board-slices" }), links));
    return element("tr", { class: "board-details" }, inside);
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
    place.replaceChildren(
      ...sets.map(([name, pieces]) =>
        element(
          "div",
          {},
          element("p", { class: "board-subtitle" }, `${words.slices}: ${name}`),
          element(
            "ul",
            { class: "bar-list board-bars" },
            ...pieces.map((piece) => element("li", { title: this.about(piece) }, element("span", { class: "bar-name" }, piece.name, " ", element("span", { class: "muted small" }, `${piece.n}`)), element("div", { class: "bar-cell" }, bar(piece, state.axes[0].unit === "%" ? 100 : Math.max(...pieces.map((one) => one.high ?? one.value))), element("span", { class: "number" }, digits(piece.value))))),
          ),
        ),
      ),
    );
  }
}
