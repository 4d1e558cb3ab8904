// What stands around the table: exchange rates in words, how sure it is, other aggregations, the citation.

import { digits, element, fill } from "./board_dom.js";
import { LOCALE, number, percent } from "./numbers.js";

/** A probability: one that is not certain never reads 100 %. */
const chance = (share) => (share > 0.995 && share < 1 ? "> 99 %" : percent(share));
const whole = (share) => `${Math.round(100 * share)}`;

/**
 * How much of a metric to speak of: about half of what lies between the least and the most among the models shown,
 * rounded down to 1, 2 or 5 times a power of ten, so that some two models differ by as much.
 */
export function amountFor(values) {
  const present = [...values].filter((value) => !Number.isNaN(value));
  const half = present.length > 1 ? (Math.max(...present) - Math.min(...present)) / 2 : 0;
  if (!(half > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(half));
  const first = [5, 2, 1].find((step) => step * power <= half * (1 + 1e-9)) ?? 1;
  return Number((first * power).toPrecision(1));
}

export function showWorth(place, state, titles, words) {
  const base = state.axes.find((axis) => axis.name === state.base);
  const { worth, shares } = state.found;
  const points = (value) => {
    const text = digits(value);
    return base.unit === "%" ? fill(words.points_percent, { value: text }) : fill(words.points, { value: text, unit: words[base.unit] ?? base.unit });
  };
  const lines = state.axes.flatMap((axis, c) => {
    if (axis.name === state.base || shares[c] === 0) return [];
    if (worth[c] === null) {
      if (state.prepared.rates[c]) return [fill(words.no_base, { base: titles[state.base] })];
      const present = [...state.values[c]].filter((value) => !Number.isNaN(value));
      const half = state.prepared.rates[c] === 0 && state.kind === "median";
      const same = present.length > 1 && present.every((value) => value === present[0]);
      return [fill(words.worth_none, { axis: titles[axis.name], why: same ? words.why_same : half ? words.why_half : words.why_close })];
    }
    const much = amountFor(state.values[c]);
    const amount = number(much, 0, 12);
    const values = { amount, unit: words[axis.unit] ?? axis.unit, axis: titles[axis.name], points: points(worth[c] * much), base: titles[state.base] };
    return [fill(axis.lower ? words.worth_less : words.worth_more, values)];
  });
  place.replaceChildren(...[...new Set(lines)].map((line) => element("li", {}, line)));
}

/** What is to be said of a figure that a worker computes: when it did, from how much, or that it is on the way. */
function sureNotes(found, words) {
  if (found.too_large) return [words.sure_large];
  if (!found.computed_at) return found.pending ? [words.sure_pending] : [];
  const at = new Date(found.computed_at).toLocaleString(LOCALE, { dateStyle: "medium", timeStyle: "short" });
  const notes = [fill(found.pending ? words.sure_outrun : words.sure_at, { at })];
  if (found.sampled) notes.push(fill(words.sure_sampled, { n: number(found.sampled), all: number(found.examples) }));
  return notes;
}

export function showSure(found, state, words) {
  const name = (ref) => state.models.find((model) => model.ref === ref)?.name ?? ref;
  const pairs = found.pairs.slice(0, 8).map((pair) => {
    const unsettled = pair.difference.value === 0 ? words.equal : words.unsettled;
    const more = pair.through_measuring ? words.through_measuring : pair.more === null ? unsettled : pair.more === 0 ? words.settled : fill(words.more, { n: number(pair.more) });
    return element("li", {}, fill(words.pair, { first: name(pair.first), second: name(pair.second), percent: chance(pair.probability) }), element("span", { class: "muted small" }, ` · ${more}`));
  });
  const notes = sureNotes(found, words);
  if (!found.models.length && !notes.length) pairs.push(element("li", {}, words.none_ranked));
  pairs.push(...notes.map((note) => element("li", { class: "muted small" }, note)));
  document.getElementById("sure-pairs").replaceChildren(...pairs);
  const place = document.getElementById("sure-matrix");
  const names = found.models.slice(0, 12).map((model) => name(model.model));
  if (names.length < 2) {
    place.replaceChildren();
    return;
  }
  const head = element("tr", {}, element("td", {}), ...names.map((one) => element("th", { scope: "col" }, one)));
  const rows = names.map((one, i) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, one),
      ...names.map((_, j) => (i === j ? element("td", { class: "same" }, "·") : element("td", { class: `p${Math.round(10 * found.above[i][j])}` }, whole(found.above[i][j])))),
    ),
  );
  const table = element("table", { class: "board-matrix" }, element("caption", {}, `${words.above}, %`), element("thead", {}, head), element("tbody", {}, ...rows));
  place.replaceChildren(element("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": words.above }, table));
}

export function showLeader(found, state, titles, words) {
  const name = (ref) => state.models.find((model) => model.ref === ref)?.name ?? ref;
  const place = document.getElementById("sure-leader");
  if (!found.leader) {
    place.replaceChildren();
    return;
  }
  const ranges = Object.entries(found.weights)
    .filter(([, range]) => range.low > 0.0005 || range.high < 0.9995)
    .map(([axis, range]) => fill(words.leads_range, { axis: titles[axis], low: percent(range.low), high: percent(range.high ?? 1) }));
  const lines = ranges.map((range) => fill(words.leads, { leader: name(found.leader), ranges: range }));
  if (found.epsilon) {
    const { low, high } = found.epsilon;
    const values = { leader: name(found.leader), low: low === 0 ? "0" : digits(low), high: high === null ? "∞" : digits(high) };
    lines.push(fill(words.leads_epsilon, values));
  }
  const pool = found.pool.slice(0, 3).filter((effect) => Math.abs(effect.largest) > 1e-9);
  for (const effect of pool) {
    const values = { without: name(effect.without), points: digits(Math.abs(effect.largest)), leader: name(effect.leader) };
    const moved = effect.leader_changes && effect.without !== found.leader;
    lines.push(fill(moved ? words.pool_leader : words.pool, values));
  }
  place.replaceChildren(...lines.map((line) => element("li", {}, line)));
}

export function showAggregations(place, found, words) {
  const head = ["", ...found.aggregations.map((one) => words[one]), words.pareto];
  const rows = found.models.map((model) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, model.name),
      ...found.aggregations.map((one) => {
        const { score, rank } = model.aggregates[one];
        return element("td", {}, rank === null ? "–" : element("b", {}, `${rank}.`), rank === null ? "" : ` ${digits(score)}`);
      }),
      element("td", {}, model.pareto ? words.yes : "–"),
    ),
  );
  const table = element("table", { class: "table" }, element("thead", {}, element("tr", {}, ...head.map((text) => element(text ? "th" : "td", text ? { scope: "col" } : {}, text)))), element("tbody", {}, ...rows));
  place.replaceChildren(element("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": words.dynascore }, table));
}

export function citation(state, etag, address) {
  const { board, found, prepared } = state;
  const scoring = board.datasets.filter((dataset) => state.datasets[dataset.name] > 0);
  const total = scoring.reduce((sum, dataset) => sum + state.datasets[dataset.name], 0);
  const rounds = state.axes.some((axis) => axis.pooled) ? (board.rounds ?? []) : [];
  const lines = [
    `Quintain board of task "${board.task}"${board.tag ? `, tag "${board.tag}"` : ""}${board.language ? `, language "${board.language}"` : ""}`,
    `address    ${address}`,
    `as of      ${board.made_at.slice(0, 19)}Z`,
    `metric     ${board.metric}, in units of ${state.base}`,
    `weights    ${state.axes.map((axis, c) => `${axis.name} ${found.shares[c].toFixed(3)}`).join(", ")}`,
    `epsilon    ${prepared.epsilon}`,
    ...(state.kind === "median" ? ["rates      median"] : []),
    ...state.partial().map(({ name, names, scoring }) => `over       ${name}: ${names.length} of ${scoring} data sets${names.length ? ` (${names.join(", ")})` : ", dropped"}`),
    ...(board.machine?.name ? [`machine    ${board.machine.name}`] : []),
    ...(state.runs().waiting ? [`order      provisional, ${state.runs().waiting} of ${state.runs().needed} runs to come`] : []),
    ...scoring.map((dataset) => `data set   ${dataset.ref}, weight ${(state.datasets[dataset.name] / total).toFixed(3)}, ${dataset.hash}`),
    ...rounds.map((round) => `round      ${round.round}, ${round.validated} validated of ${round.collected} collected`),
    `board      ${etag.replaceAll('"', "")}`,
  ];
  return lines.join("\n");
}
