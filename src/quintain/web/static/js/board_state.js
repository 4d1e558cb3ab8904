// What a reader has chosen, the matrix it is applied to, and the ranking that follows. No DOM.

import { Refusal, goodOf, paretoFront, prepare, score, weightedMean } from "./utility.js";

const pairs = (text) =>
  Object.fromEntries(
    text
      .split(",")
      .map((part) => part.split(":"))
      .filter(([name, value]) => name && Number(value) >= 0)
      .map(([name, value]) => [name, Number(value)]),
  );
const written = (weights) =>
  Object.entries(weights)
    .map(([name, value]) => `${name}:${Number(value.toFixed(4))}`)
    .join(",");

export class State {
  constructor(board) {
    this.board = board;
    this.models = board.models;
    this.axes = board.axes;
    const column = (figureOf) => Float64Array.from(board.models, (model) => figureOf(model)?.value ?? NaN);
    this.cells = board.axes.map((axis) => board.datasets.map((_, d) => column((model) => model.values[axis.name]?.[d])));
    // Such an axis has one figure over all rounds, and data sets have no say in it.
    this.pooled = board.axes.map((axis) => (axis.pooled ? column((model) => model.pooled?.[axis.name]) : null));
    // What was measured on another machine is shown and does not rank.
    const shown = (model, axis, d) => model.values[axis.name]?.[d] ?? model.gaps?.[axis.name]?.[d]?.figure;
    this.shown = board.axes.map((axis) => board.datasets.map((_, d) => column((model) => shown(model, axis, d))));
    this.cannot = board.axes.map((axis) => board.models.map((model) => model.cannot.includes(axis.name)));
    const name = (m) => board.models[m].name;
    this.byName = [...board.models.keys()].sort((a, b) => (name(a) < name(b) ? -1 : 1));
    this.reset();
  }

  reset() {
    this.weights = { ...this.board.weights };
    this.datasets = Object.fromEntries(this.board.datasets.map((dataset) => [dataset.name, dataset.weight]));
    this.epsilon = this.board.epsilon;
    this.base = "performance";
    this.kind = this.board.rate ?? "mean";
    this.stale = true;
  }

  /** Take over a view: `{weights, datasets, epsilon, base}`, each where it is given. */
  take(view) {
    this.reset();
    if (view.weights) this.weights = Object.fromEntries(this.axes.map(({ name }) => [name, view.weights[name] ?? 0]));
    if (view.datasets) {
      for (const name of Object.keys(this.datasets)) this.datasets[name] = view.datasets[name] ?? 0;
    }
    if (view.epsilon !== null && view.epsilon !== undefined) this.epsilon = view.epsilon;
    if (this.axes.some((axis) => axis.name === view.base)) this.base = view.base;
    if (view.rate === "mean" || view.rate === "median") this.kind = view.rate;
  }

  read(query) {
    const view = { base: query.get("base"), rate: query.get("rate") };
    if (query.get("weights")) view.weights = pairs(query.get("weights"));
    if (query.get("datasets")) view.datasets = pairs(query.get("datasets"));
    if (query.get("epsilon") && Number(query.get("epsilon")) >= 0) view.epsilon = Number(query.get("epsilon"));
    this.take(view);
  }

  /** The part of the address that carries what differs from the owner's default. */
  query() {
    const query = new URLSearchParams();
    const differs = (now, before) => Object.entries(now).some(([name, value]) => Math.abs(value - (before[name] ?? 0)) > 1e-9);
    const usual = Object.fromEntries(this.board.datasets.map((dataset) => [dataset.name, dataset.weight]));
    if (differs(this.weights, this.board.weights)) query.set("weights", written(this.weights));
    if (differs(this.datasets, usual)) query.set("datasets", written(this.datasets));
    if (this.epsilon !== this.board.epsilon && this.epsilon !== null) query.set("epsilon", this.epsilon);
    if (this.base !== "performance") query.set("base", this.base);
    if (this.kind !== (this.board.rate ?? "mean")) query.set("rate", this.kind);
    return query;
  }

  dataWeights() {
    return this.board.datasets.map((dataset) => this.datasets[dataset.name]);
  }

  /** Average over data sets anew; only data set weights, ε and the base metric make this necessary. */
  prepare() {
    const weights = this.dataWeights();
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    // An axis is averaged over the data sets where it applies; where it applies nowhere it has no weight for anybody.
    const applied = this.axes.map(({ name }) => weights.map((weight, d) => (this.board.datasets[d].inapplicable?.includes(name) ? 0 : weight)));
    const wholes = applied.map((own) => own.reduce((sum, weight) => sum + weight, 0));
    this.shares = applied.map((own, c) => own.map((weight) => weight / (wholes[c] || 1)));
    this.dropped = this.axes.filter((axis, c) => total > 0 && !axis.pooled && !wholes[c]).map(({ name }) => name);
    const models = this.models.length;
    this.beyond = this.models.map(() => null);
    const values = this.cells.map((cells, c) => {
      // Weights are looked at even where they do not matter: without any there is no board, unless rounds make one.
      const needed = weights.length > 0 && !this.dropped.includes(this.axes[c].name) && (total > 0 || !this.pooled.some(Boolean));
      const over = needed ? weightedMean(cells, applied[c], models) : new Float64Array(models).fill(NaN);
      const mean = this.pooled[c]?.slice() ?? over;
      const { cap, name } = this.axes[c];
      for (let m = 0; m < mean.length; m += 1) {
        if (this.cannot[c][m]) mean[m] = NaN;
        else if (cap !== null && mean[m] > cap) {
          mean[m] = NaN;
          this.beyond[m] ??= name;
        }
      }
      return mean;
    });
    this.values = values;
    this.prepared = this.preparedBy(this.kind);
    this.stale = false;
  }

  preparedBy(rate) {
    const choices = { epsilon: this.epsilon ?? undefined, perf: "performance", base: this.base, rate };
    return prepare({ columns: this.axes, values: this.values, cannot: this.cannot }, choices);
  }

  /** The weights that count: an axis that applies nowhere has none, unless it is the only one that has any. */
  counting() {
    const left = Object.fromEntries(Object.entries(this.weights).map(([name, weight]) => [name, this.dropped.includes(name) ? 0 : weight]));
    return Object.values(left).some((weight) => weight > 0) ? left : this.weights;
  }

  /** The axes of whose rate one pair of neighbours holds more than half, at the present weights. */
  dominant() {
    if (this.kind === "median") return [];
    return this.axes.flatMap(({ name }, c) => (this.found.shares[c] > 0 && this.prepared.dominant[name] ? [{ name, ...this.prepared.dominant[name] }] : []));
  }

  /** The ranking by the median of the same rates: its ranks and its order. */
  byMedian() {
    return score(this.preparedBy("median"), this.counting(), this.byName);
  }

  /** The axes that are not averaged over every data set that has a weight, each with the names of those that it is. */
  partial() {
    const weights = this.dataWeights();
    const scoring = weights.filter((weight) => weight > 0).length;
    return this.axes.flatMap((axis, c) => {
      const names = this.board.datasets.filter((_, d) => this.shares[c][d] > 0).map(({ name }) => name);
      return axis.pooled || names.length === scoring ? [] : [{ name: axis.name, names, scoring }];
    });
  }

  /** Where nothing can be ranked, nobody has a score: no order of before stands for one. */
  unrank() {
    const models = this.models.length;
    if (this.stale) this.values = this.axes.map(() => new Float64Array(models).fill(NaN));
    this.beyond ??= this.models.map(() => null);
    const none = this.axes.map(() => 0);
    this.found = { scores: new Float64Array(models).fill(NaN), ranks: new Int32Array(models), order: this.byName, missing: this.models.map(() => null), shares: none, worth: this.axes.map(() => null) };
    this.order = this.byName;
  }

  /** Rank by the present choices; gives an error's text where they rank nothing. */
  rank() {
    try {
      if (this.stale) this.prepare();
      this.found = score(this.prepared, this.counting(), this.byName);
      this.order = this.found.order;
      return null;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.unrank();
      const weights = this.dataWeights();
      return !weights.length || weights.some((weight) => weight > 0) ? "refused" : "refused_data";
    }
  }

  /** The runs behind the data sets that have a weight: of one model, or of all. */
  runs(models = this.models) {
    const counts = { needed: 0, done: 0, waiting: 0 };
    const weights = this.dataWeights();
    for (const model of models) {
      (model.runs ?? []).forEach((runs, d) => {
        if (weights[d] > 0) for (const name of Object.keys(counts)) counts[name] += runs[name];
      });
    }
    return counts;
  }

  /** Why a model has no figure of an axis, on the data sets that have a weight; each gap once. */
  gaps(m, c) {
    const weights = this.dataWeights();
    const found = (this.models[m].gaps?.[this.axes[c].name] ?? []).filter((gap, d) => gap && weights[d] > 0 && this.shares[c][d] > 0);
    const runs = this.runs([this.models[m]]);
    return found.map((gap) => (gap.kind === "waiting" ? { ...gap, ...runs } : gap));
  }

  /** What is shown of an axis that does not rank: the mean of what was measured elsewhere or unevenly, too; else NaN. */
  elsewhere(m, c) {
    if (!this.gaps(m, c).some((gap) => gap.figure)) return NaN;
    return this.shown[c].reduce((sum, column, d) => (this.shares[c][d] ? sum + this.shares[c][d] * column[m] : sum), 0);
  }

  /** A cell over data sets, with its interval: the halves add up as independent errors do. */
  figure(m, c) {
    const value = this.values[c][m];
    if (Number.isNaN(value)) return null;
    if (this.axes[c].pooled) return this.models[m].pooled[this.axes[c].name];
    const figures = this.models[m].values[this.axes[c].name];
    let n = 0;
    let pairs = 0;
    let kinds = 0;
    let spread = null;
    let seeds = null;
    let at = null;
    let low = 0;
    let high = 0;
    this.shares[c].forEach((share, d) => {
      const figure = figures[d];
      if (!share || !figure) return;
      n += figure.n ?? 0;
      pairs += figure.pairs ?? 0;
      kinds = Math.max(kinds, figure.kinds ?? 0);
      if (figure.at > (at ?? "")) at = figure.at;
      if (figure.spread !== undefined) spread = Math.max(spread ?? 0, figure.spread);
      seeds ??= figure.seeds;
      low += figure.low === null ? NaN : (share * (figure.low - figure.value)) ** 2;
      high += figure.high === null ? NaN : (share * (figure.high - figure.value)) ** 2;
    });
    const sure = !Number.isNaN(low) && !Number.isNaN(high);
    return {
      value, n, pairs, kinds, at, spread, seeds,
      low: sure ? value - Math.sqrt(low) : null,
      high: sure ? value + Math.sqrt(high) : null,
    };
  }

  front(x, y) {
    const goods = [x, y].map((name) => {
      const c = this.axes.findIndex((axis) => axis.name === name);
      return goodOf(this.axes[c], this.values[c]);
    });
    return paretoFront(goods);
  }
}
