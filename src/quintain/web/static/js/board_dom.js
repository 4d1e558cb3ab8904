// Small makings that every part of the board shares: elements, numbers, sentences with gaps, bars.

import { number, significant } from "./numbers.js";

export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

export function digits(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1000) return number(Math.round(value));
  if (size > 0 && size < 0.1) return significant(value, 2);
  return number(value, size >= 10 || size === 0 ? 1 : 2);
}

/** As many digits as anybody could ask for, where a cell has room for few. */
export function exact(value) {
  return Math.abs(value) >= 1e-4 || value === 0 ? number(value, 0, 4) : value.toExponential(3);
}

/** Mark what turns the direction of the text around it, as the server does on pages. */
export const visible = (text) => (typeof text === "string" ? text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd") : text);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : visible(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined).map(visible));
  return made;
}

/** Write `text` into `node`, whose one child is a text node: nothing is made, so nothing else is looked at anew. */
export function write(node, text) {
  const inside = node.firstChild;
  const shown = visible(text);
  if (!inside) node.append(shown);
  else if (inside.data !== shown) inside.data = shown;
}

const vector = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

/** How a model is drawn in charts, beside its name. */
export const makeMark = () =>
  vector("svg", { class: "model-mark", viewBox: "-1.4 -1.4 2.8 2.8", width: "12", height: "12", "aria-hidden": "true" }, vector("path", {}));

/** Draw the mark of a model; one without has none. */
export function drawMark(mark, style) {
  mark.firstChild.setAttribute("d", style?.[2] ?? "");
  mark.firstChild.setAttribute("fill", style?.[0] ?? "none");
}

/** An empty bar, a hundred wide however wide it is shown. Paths cost a frame far less than styles that change. */
export const makeBar = () =>
  vector("svg", { class: "thin-bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, vector("path", {}), vector("path", {}));

// Below so many examples a figure is drawn as not settled; `quintain.reports.few` has the same number.
export const LEAST = 30;

export const isFew = (n) => typeof n === "number" && n > 0 && n < LEAST;

/** The two paths of a figure: the bar, and the whisker of its interval, whose caps stand out above and below; and
 * whether it rests on few examples, so that the one is hollow and the other dashed. */
export function barPaths(figure, top) {
  const at = (value) => (top > 0 ? Math.min(100, Math.max(0, (100 * value) / top)) : 0).toFixed(2);
  const known = figure.low !== null && figure.low !== undefined && figure.high !== null && figure.high !== undefined;
  const [low, high] = known ? [at(figure.low), at(figure.high)] : [];
  return [`M0 0H${at(figure.value)}V6H0Z`, known ? `M${low} -2V8M${high} -2V8M${low} 3H${high}` : "", isFew(figure.n)];
}

export function drawBar(bar, [filled, whisker, few]) {
  if (bar.classList.contains("few") !== few) bar.classList.toggle("few", few);
  bar.firstChild.setAttribute("d", filled);
  bar.lastChild.setAttribute("d", whisker);
}

export function bar(figure, top) {
  const made = makeBar();
  drawBar(made, barPaths(figure, top));
  return made;
}
