// What a ranking stands on: over which data sets an axis was taken, and whether one pair of models makes a rate.

import { element, fill, write } from "./board_dom.js";
import { percent } from "./numbers.js";

const MOST = 10; // models that are named in an order
const byId = (id) => document.getElementById(id);

/** Say it of the view that is shown; without a *state* nothing is ranked, and nothing is said. */
export function showGround(state, titles, words) {
  const partial = state?.partial() ?? [];
  const lines = partial.map(({ name, names, scoring }) =>
    names.length
      ? fill(words[`over_${name}`] ?? words.over, { axis: titles[name], n: names.length, all: scoring, names: names.join(", ") })
      : fill(words[`dropped_${name}`] ?? words.dropped, { axis: titles[name] }),
  );
  byId("board-over").replaceChildren(...lines.map((line) => element("li", {}, line)));
  byId("board-over").hidden = !lines.length;
  const dominant = state?.dominant() ?? [];
  byId("board-dominant").hidden = !dominant.length;
  byId("board-dominant-pairs").replaceChildren(...dominant.map((pair) => element("p", {}, sentence(pair, state, titles, words))));
  write(byId("board-dominant-order"), dominant.length ? byMedian(state, words) : "");
}

function sentence({ name, first, second, share }, state, titles, words) {
  const values = { first: state.models[first].name, second: state.models[second].name, percent: percent(share), axis: titles[name] };
  return fill(words.dominant, values);
}

function byMedian(state, words) {
  const { ranks, order } = state.byMedian();
  const ranked = order.filter((m) => ranks[m]);
  if (!ranked.length) return "";
  const places = ranked.slice(0, MOST).map((m) => fill(words.place, { rank: ranks[m], name: state.models[m].name }));
  return fill(words.by_median, { order: `${places.join(", ")}${ranked.length > MOST ? " …" : ""}` });
}
