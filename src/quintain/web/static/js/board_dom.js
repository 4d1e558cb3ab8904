// Small makings that every part of the board shares: elements, numbers, sentences with gaps, bars.

export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

export const locale = () => document.documentElement.lang || undefined;

export function digits(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 1000 ? 0 : size >= 10 || size === 0 ? 1 : 2);
}

/** As many digits as anybody could ask for, where a cell has room for few. */
export function exact(value) {
  return Math.abs(value) >= 1e-4 || value === 0 ? `${Number(value.toFixed(4))}` : value.toExponential(3);
}

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** An empty bar: one element, painted by the stylesheet from what `drawBar` says. */
export const makeBar = () => element("span", { class: "thin-bar", "aria-hidden": "true" });

/** Draw a figure as a thin bar with the whisker of its interval; nothing is laid out anew. */
export function drawBar(bar, figure, top) {
  const at = (value) => `${(top > 0 ? Math.min(100, Math.max(0, (100 * value) / top)) : 0).toFixed(2)}%`;
  const known = figure.low !== null && figure.low !== undefined && figure.high !== null && figure.high !== undefined;
  const whisker = known ? `--low:${at(figure.low)};--high:${at(figure.high)}` : "--low:-9px;--high:-9px";
  bar.style.cssText = `--value:${at(figure.value)};${whisker}`;
}

export function bar(figure, top) {
  const made = makeBar();
  drawBar(made, figure, top);
  return made;
}
