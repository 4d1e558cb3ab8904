// The sliders of the weights: what they stand at, what share of the whole they say, and where they are. Under the
// columns of a wide table; on a phone, where a column is wider than a thumb's way, in a list of their own.

import { fill, write } from "./board_dom.js";
import { percent as percentText } from "./numbers.js";

const narrow = window.matchMedia("(max-width: 640px)");

export class Sliders {
  constructor(root, state, words, top) {
    Object.assign(this, { state, words, top });
    const found = (name, from) => [...root.querySelectorAll(`[data-${name}]`)].map((input) => ({ input, output: input.nextElementSibling, ...from(input.dataset[name]) }));
    this.axes = found("axis", (name) => ({ name, c: state.axes.findIndex((axis) => axis.name === name) }));
    this.datasets = found("dataset", (name) => ({ name }));
    for (const one of this.axes) one.homes = [one.input.parentElement, root.querySelector(`[data-home="${one.name}"]`)];
    narrow.addEventListener("change", () => this.settle());
    this.settle();
  }

  /** Put each slider where there is room for it. */
  settle() {
    for (const { input, output, homes } of this.axes) homes[narrow.matches ? 1 : 0]?.append(input, output);
  }

  /** Set them by what is chosen. */
  set() {
    const most = Math.max(...Object.values(this.state.weights), 1e-9);
    // The largest weight stands at half of the slider, so that every one can still be raised.
    const scale = this.top / 2 / most;
    for (const { input, name } of this.axes) input.value = this.state.weights[name] * scale;
    for (const { input, name } of this.datasets) input.value = this.state.datasets[name];
  }

  /** Choose by what they stand at. */
  read() {
    for (const { input, name } of this.axes) this.state.weights[name] = Number(input.value);
  }

  /** Say what share of the whole each one has. */
  say() {
    const { shares } = this.state.found;
    for (const one of this.axes) this.share(one, shares[one.c]);
    const total = this.state.dataWeights().reduce((sum, weight) => sum + weight, 0);
    for (const one of this.datasets) this.share(one, this.state.datasets[one.name] / (total || 1));
  }

  share(one, part) {
    const percent = percentText(part, 0, 1);
    if (one.percent === percent) return;
    one.percent = percent;
    write(one.output, percent);
    one.input.setAttribute("aria-valuetext", fill(this.words.weight, { percent }));
  }
}
