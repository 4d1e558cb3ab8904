// The break page: what differs between the two sides of a pair, while it is typed. The form works without it.

import { wordDiff } from "./worddiff.js";
import { piecesOf } from "./words.js";

/** Count the words and signs to put in, take out or replace, as the server does. */
export function wordsChanged(before, after) {
  const [first, second] = [before, after].map((text) => piecesOf(text).filter((piece) => piece.trim()));
  let row = second.map((_, place) => place + 1);
  first.forEach((word, place) => {
    let corner = place;
    let left = place + 1;
    row = row.map((above, column) => {
      const best = Math.min(above + 1, left + 1, corner + (word === second[column] ? 0 : 1));
      corner = above;
      left = best;
      return best;
    });
  });
  return second.length ? row.at(-1) : first.length;
}

function show(box) {
  const after = document.getElementById(box.dataset.pairDiff).value;
  const before = box.dataset.first ? document.getElementById(box.dataset.first).value : box.dataset.before;
  const nodes = wordDiff(before, after).map(([kind, text]) => {
    if (kind === "same") return document.createTextNode(text);
    const node = document.createElement(kind === "added" ? "ins" : "del");
    node.textContent = text;
    return node;
  });
  box.querySelector("[data-diff-text]").replaceChildren(...nodes);
  box.querySelector("[data-diff-words]").textContent = String(wordsChanged(before, after));
}

function showAll() {
  for (const box of document.querySelectorAll("[data-pair-diff]")) show(box);
}

document.querySelector("form[data-pair]")?.addEventListener("input", showAll);
showAll();
