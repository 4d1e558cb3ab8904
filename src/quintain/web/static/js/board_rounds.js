// How models fare against people who try to fool them, round by round: a table of validated error rates beside the
// chart that the server made.

import { bar, element, fill } from "./board_dom.js";
import { number, percent as percentText } from "./numbers.js";
import { drawCharts } from "./charts.js";

const percent = (share) => percentText(share, 1);
const called = (round, words) => fill(words.round, { title: round.title || bare(round.round) });
/** One minus a rate; the ends of its interval change places. */
const rest = ({ value, low, high }) => ({ value: 1 - value, low: known(high) ? 1 - high : null, high: known(low) ? 1 - low : null });
const known = (value) => value !== null && value !== undefined;
const bare = (ref) => ref.slice(ref.lastIndexOf("/") + 1);

/** Fill the panel; a board that knows nothing of rounds (an old one) has none. */
export function showRounds(panel, board, words) {
  if (!board.rounds || !panel) return;
  panel.hidden = false;
  const told = board.rounds.filter((round) => round.models.length || round.human);
  panel.querySelector("[data-rounds=none]").hidden = told.length > 0;
  panel.querySelector("[data-rounds=some]").hidden = told.length === 0;
  if (!told.length) return;
  panel.querySelector("[data-rounds=table]").replaceChildren(table(told, words));
  drawCharts(panel); // it was hidden, and so had no width, until now
}

function table(rounds, words) {
  // Those of the newest round come first.
  const names = [...new Set(rounds.toReversed().flatMap((round) => round.models.map((model) => model.model)))];
  const head = rounds.map((round) =>
    element(
      "th",
      { scope: "col" },
      called(round, words),
      element("span", { class: "board-about" }, fill(words.round_counts, { validated: number(round.validated), collected: number(round.collected) })),
      element("span", { class: "board-about" }, round.at ? round.at.slice(0, 10) : ""),
    ),
  );
  const rows = names.map((name) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, bare(name)),
      ...rounds.map((round) => {
        const found = round.models.find((model) => model.model === name && model.vmer.value !== null);
        const best = found && round.models.length > 1 && round.best?.model === name;
        return found ? cell(found.vmer, found.collected, fill(words.errors_of, { errors: number(found.errors), n: number(found.collected) }), best ? words.best_here : "") : none();
      }),
    ),
  );
  if (rounds.some((round) => round.human)) rows.push(people(rounds, words));
  return element(
    "table",
    { class: "table board-rounds" },
    element("caption", {}, words.vmer_caption),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, words.model), ...head)),
    element("tbody", {}, ...rows),
  );
}

/** People's own error rate, on the same scale as the models'. */
function people(rounds, words) {
  const cells = rounds.map(({ human, validated }) => (human ? cell(rest(human), validated) : none()));
  return element("tr", { class: "board-people" }, element("th", { scope: "row" }, words.people), ...cells);
}

const none = () => element("td", { class: "muted" }, "–");

function cell(rate, n, counts = "", mark = "") {
  const interval = !known(rate.low) ? "" : `${number(100 * rate.low, 1)}–${number(100 * rate.high, 1)}`;
  return element(
    "td",
    {},
    element("b", {}, percent(rate.value)),
    mark ? element("span", { class: "chip" }, mark) : null,
    bar({ ...rate, n }, 1),
    element("span", { class: "board-about" }, [interval, counts].filter(Boolean).join(" · ")),
  );
}
