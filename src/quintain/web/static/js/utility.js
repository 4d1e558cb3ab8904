// The Dynascore in the browser: the same formula as quintain.stats.utility, agreeing with it to 1e-9 on shared tables.
// No dependencies, no DOM. A column is a Float64Array with one number per model; NaN is a missing cell.

// A difference that is ε on paper may be a rounding error above it in binary.
const SLACK = 1 + 1e-9;
const NOISE = 1e-12;

export class Refusal extends Error {}

/** Average over data sets: `cells[d]` is a column, `weights[d]` its weight; a gap counts only where the weight does. */
export function weightedMean(cells, weights, models) {
  const mean = new Float64Array(models);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (!(total > 0) || weights.some((weight) => !(weight >= 0))) throw new Refusal("no data set has a weight");
  for (let d = 0; d < cells.length; d += 1) {
    const share = weights[d] / total;
    if (share === 0) continue;
    const column = cells[d];
    for (let m = 0; m < models; m += 1) mean[m] += share * column[m];
  }
  return mean;
}

/** Turn a metric of which less is better into a good: cap − value or, without a cap, max − value. */
export function goodOf(column, values) {
  if (!column.lower) return values;
  let cap = column.cap;
  if (cap === null || cap === undefined) {
    cap = -Infinity;
    for (const value of values) if (value > cap) cap = value;
  }
  return values.map((value) => cap - value);
}

export function defaultWeights(names, perf) {
  const others = names.length - 1;
  return names.map((name) => (name === perf ? (others ? 0.5 : 1) : 0.5 / others));
}

export function defaultEpsilon(base) {
  let top = 0;
  for (const value of base) if (Math.abs(value) > top) top = Math.abs(value);
  return top <= 1.5 ? 1e-4 : 1e-4 * Math.max(top, 100);
}

/** The rows that have a value, from the least. */
export function orderBy(base) {
  const rows = [];
  for (let m = 0; m < base.length; m += 1) if (!Number.isNaN(base[m])) rows.push(m);
  return rows.sort((a, b) => base[a] - base[b]);
}

/** The rates |Δgood| / |Δbase| of neighbours in `order` that are further apart than ε, each with the rows of the two. */
export function neighbours(base, good, epsilon, order = orderBy(base)) {
  const pairs = [];
  let before = NaN;
  let middle = NaN;
  let last = -1;
  let at = 0;
  while (at < order.length) {
    // Models that tie exactly are one point, at the middle of their range in the good.
    const level = base[order[at]];
    let least = Infinity;
    let most = -Infinity;
    let first = -1;
    while (at < order.length && base[order[at]] === level) {
      const value = good[order[at]];
      if (!Number.isNaN(value) && first < 0) first = order[at];
      if (value < least) least = value;
      if (value > most) most = value;
      at += 1;
    }
    if (least === Infinity) continue;
    const point = least + (most - least) / 2;
    const apart = level - before;
    if (apart > epsilon * SLACK) {
      const step = Math.abs(point - middle);
      // What differs only by how numbers are rounded does not differ.
      const rate = step > NOISE * (Math.abs(point) + Math.abs(middle)) ? step / apart : 0;
      pairs.push({ rate, first, second: last });
    }
    before = level;
    middle = point;
    last = first;
  }
  return pairs;
}

const added = (pairs) => pairs.reduce((sum, { rate }) => sum + rate, 0);

/** The AMRS of a good: the mean, or the median, of the rates of neighbours; null where there are none. */
export function exchangeRate(base, good, epsilon, order = orderBy(base), kind = "mean", pairs = neighbours(base, good, epsilon, order)) {
  if (!pairs.length) return null;
  if (kind !== "median") return added(pairs) / pairs.length;
  const rates = pairs.map(({ rate }) => rate).sort((a, b) => a - b);
  return (rates[(rates.length - 1) >> 1] + rates[rates.length >> 1]) / 2;
}

const TWO_PAIRS = 0.9;

/** The neighbours that hold more than half of a mean rate, or nine tenths where there are only two pairs; null for one. */
export function dominantPair(pairs) {
  const total = added(pairs);
  if (pairs.length < 2 || !(total > 0)) return null;
  const largest = pairs.reduce((most, pair) => (pair.rate > most.rate ? pair : most));
  return largest.rate > (pairs.length === 2 ? TWO_PAIRS : 0.5) * total ? { ...largest, share: largest.rate / total, pairs: pairs.length } : null;
}

/** Equal scores share the best of their ranks and stay as in `rows`; a NaN has no rank (0) and comes last. */
export function ranksOf(scores, rows = [...scores.keys()]) {
  const order = rows.filter((m) => !Number.isNaN(scores[m])).sort((a, b) => scores[b] - scores[a]);
  const ranks = new Int32Array(scores.length);
  order.forEach((m, place) => {
    ranks[m] = place > 0 && scores[order[place - 1]] === scores[m] ? ranks[order[place - 1]] : place + 1;
  });
  if (order.length < rows.length) order.push(...rows.filter((m) => Number.isNaN(scores[m])));
  return { ranks, order };
}

function normalised(names, perf, weights) {
  if (!weights) return defaultWeights(names, perf);
  const given = names.map((name) => weights[name] ?? (name === perf ? (weights.perf ?? 0) : 0));
  if (given.some((weight) => !(weight >= 0) || weight === Infinity)) throw new Refusal("a weight is not a number from 0 up");
  const total = given.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) throw new Refusal("all weights are 0");
  return given.map((weight) => weight / total);
}

/** What does not depend on the weights of metrics: goods, ε, exchange rates, each good in units of the base. */
export function prepare(table, choices = {}) {
  const names = table.columns.map((column) => column.name);
  const perf = choices.perf ?? names[0];
  const base = choices.base && names.includes(choices.base) ? choices.base : perf;
  const goods = table.columns.map((column, c) => goodOf(column, table.values[c]));
  const level = goods[names.indexOf(base)];
  const epsilon = choices.epsilon ?? defaultEpsilon(level);
  const order = orderBy(level);
  const kind = choices.rate ?? "mean";
  const dominant = {};
  const rates = names.map((name, c) => {
    if (name === base) return 1;
    if (choices.amrs?.[name] !== undefined) return choices.amrs[name];
    const pairs = neighbours(level, goods[c], epsilon, order);
    const pair = dominantPair(pairs);
    if (pair) dominant[name] = pair;
    return exchangeRate(level, goods[c], epsilon, order, kind, pairs);
  });
  const converted = goods.map((good, c) => {
    const cannot = table.cannot?.[c];
    let least = 0;
    for (const value of good) if (value < least) least = value;
    // A model that cannot have the metric gets no credit for it: nothing or, below that, the least there is.
    return good.map((value, m) => (rates[c] ? (cannot?.[m] ? least : value) / rates[c] : 0));
  });
  return { names, perf, base, goods, epsilon, rates, converted, table, kind, dominant };
}

/** Score and rank what was prepared by `weights`; this alone runs while a slider moves. Ties stay as in `rows`. */
export function score(prepared, weights, rows) {
  const { names, perf, base, rates, converted, table } = prepared;
  const shares = normalised(names, perf, weights);
  const models = table.values[0]?.length ?? 0;
  const scores = new Float64Array(models);
  const missing = Array.from({ length: models }, () => null);
  for (let c = 0; c < names.length; c += 1) {
    if (shares[c] === 0) continue;
    const values = table.values[c];
    const cannot = table.cannot?.[c];
    for (let m = 0; m < models; m += 1) {
      if (Number.isNaN(values[m]) && !cannot?.[m]) (missing[m] ??= []).push(names[c]);
      else if (rates[c]) scores[m] += shares[c] * converted[c][m];
    }
  }
  for (let m = 0; m < models; m += 1) if (missing[m]) scores[m] = NaN;
  const baseShare = shares[names.indexOf(base)];
  const worth = rates.map((rate, c) => (rate && baseShare ? shares[c] / (baseShare * rate) : null));
  return { scores, ...ranksOf(scores, rows), missing, shares, worth };
}

/** Everything at once, from plain rows: what the shared fixture checks. */
export function rankModels(table, choices = {}) {
  const columns = table.columns.map((_, c) => Float64Array.from(table.values, (row) => (typeof row[c] === "number" ? row[c] : NaN)));
  const cannot = table.columns.map((_, c) => table.values.map((row) => row[c] === "n/a"));
  const prepared = prepare({ columns: table.columns, values: columns, cannot }, choices);
  const found = score(prepared, choices.weights);
  const named = (values) => Object.fromEntries(prepared.names.map((name, c) => [name, values[c]]));
  return {
    dynascore: Array.from(found.scores, (value) => (Number.isNaN(value) ? null : value)),
    rank: Array.from(found.ranks, (value) => value || null),
    amrs: named(prepared.rates),
    weights: named(found.shares),
    worth: named(found.worth),
    epsilon: prepared.epsilon,
    unranked: found.missing,
    dominant: Object.fromEntries(
      Object.entries(prepared.dominant)
        .filter(([name]) => found.shares[prepared.names.indexOf(name)] > 0)
        .map(([name, { first, second, share, pairs }]) => [name, [table.models[first], table.models[second], share, pairs]]),
    ),
  };
}

/** The models that no other beats: at least as good on all of `goods` and better on one. */
export function paretoFront(goods) {
  const models = goods[0]?.length ?? 0;
  const order = [...Array(models).keys()].filter((m) => goods.every((good) => !Number.isNaN(good[m])));
  order.sort((a, b) => goods[0][b] - goods[0][a] || (goods[1] ? goods[1][b] - goods[1][a] : 0));
  const front = new Set();
  for (const m of order) {
    const beaten = [...front].some(
      (other) => goods.every((good) => good[other] >= good[m]) && goods.some((good) => good[other] > good[m]),
    );
    if (!beaten) front.add(m);
  }
  return front;
}
