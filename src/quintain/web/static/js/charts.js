// Draws every <div class="chart" data-spec="…"> with Vega-Lite. The specification is made on the server;
// here it only gets the colours of the page, and the interpreter that needs no `eval`.

import { isRightToLeft } from "./direction.js";
import { DATES, NUMBERS } from "./numbers.js";

const LIBRARIES = ["vega.min.js", "vega-lite.min.js", "vega-embed.min.js"];
// What a chart does not colour itself; `quintain.reports.series` has the same.
const CATEGORIES = ["#4a76d4", "#2f9e77", "#b0558f", "#c04a3f", "#1f93ab", "#8a63d2", "#7f7a2f", "#7d8797"];
// From right to left: values grow to the left, and what they are of stands at the right.
const MIRRORED = { scale: { xReverse: true }, axisY: { orient: "right" }, legend: { orient: "left" } };
const views = new WeakMap();
let loading = null;

function load(file) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${document.body.dataset.vendor}/${file}`;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`Could not load ${file}`));
    document.head.append(script);
  });
}

function libraries() {
  loading ??= LIBRARIES.reduce((before, file) => before.then(() => load(file)), Promise.resolve());
  return loading;
}

// Custom properties hold a pair of colours; only a real element's colour is the one that is shown.
export function colour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

function look() {
  const ink = colour("--ink");
  const muted = colour("--muted");
  const line = colour("--line");
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: "transparent",
    font,
    view: { stroke: null },
    axis: { labelColor: ink, titleColor: muted, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 13, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 220 },
    legend: { labelColor: ink, titleColor: muted },
    title: { color: ink, anchor: "start", fontSize: 14 },
    range: { category: CATEGORIES, ramp: [colour("--accent-soft"), colour("--accent")], heatmap: [colour("--accent-soft"), colour("--accent")] },
    bar: { color: colour("--accent") },
    area: { color: colour("--accent") },
    point: { color: colour("--accent") },
    line: { color: colour("--accent") },
    rule: { color: colour("--verdict-mark") },
    text: { color: ink, fontSize: 13 },
  };
}

async function draw(element) {
  await libraries();
  // One that is drawn again lets go of what it held.
  views.get(element)?.finalize();
  views.delete(element);
  const spec = JSON.parse(element.dataset.spec);
  // Hollow marks are filled with what is behind the chart.
  for (const param of spec.params ?? []) if (param.name === "ground") param.value = colour("--surface");
  const view = await window.vegaEmbed(element, spec, {
    actions: false,
    formatLocale: NUMBERS,
    timeFormatLocale: DATES,
    ast: true,
    config: { ...look(), ...(isRightToLeft() ? MIRRORED : {}) },
    defaultStyle: false,
    renderer: element.dataset.renderer ?? "svg",
    tooltip: { disableDefaultStyle: true },
  });
  views.set(element, view);
  element.dataset.drawn = "true";
  element.dispatchEvent(new CustomEvent("quintain:drawn", { detail: view.view }));
}

/** Draw what can be seen: a chart within a fold has no width, and is drawn when that is opened. */
export function drawCharts(root = document) {
  for (const element of root.querySelectorAll(".chart[data-spec]")) {
    if (!element.closest("details:not([open])")) draw(element);
  }
}

document.addEventListener("toggle", (event) => event.target.open && drawCharts(event.target), true);
