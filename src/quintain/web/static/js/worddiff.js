// What changed between two texts: pieces to show, and the edit distance that the server counts. No DOM.

import { piecesOf } from "./words.js";

const MOST_CELLS = 4_000_000; // beyond this a table of common pieces would make typing slow

/** List [kind, text] in reading order; kind is "same", "removed" or "added". */
export function wordDiff(before, after) {
  const first = piecesOf(before);
  const second = piecesOf(after);
  const [start, end] = ends(first, second);
  const middle = between(first.slice(start, first.length - end), second.slice(start, second.length - end));
  return joined([
    ...first.slice(0, start).map((piece) => ["same", piece]),
    ...middle,
    ...first.slice(first.length - end).map((piece) => ["same", piece]),
  ]);
}

/** Give the number that word *number* of a list has in another one, an edit of it; null where it is gone.

    A word that was exchanged for another one has the place of that. The server finds the same (`stats/alignment.py`). */
export function followWord(before, after, number) {
  if (!(number >= 0 && number < before.length)) return null;
  const place = followed(before, after, number, ...ends(before, after));
  if (place !== null && after[place] === before[number]) return place;
  const [end, start] = ends([...before].reverse(), [...after].reverse());
  const other = followed(before, after, number, start, end);
  return other !== null && after[other] === before[number] ? other : place;
}

function followed(before, after, number, start, end) {
  if (number < start) return number;
  if (number >= before.length - end) return number + after.length - before.length;
  const place = inMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end), number - start);
  return place === null ? null : place + start;
}

function inMiddle(first, second, number) {
  if (first.length * second.length > MOST_CELLS) return null;
  const lengths = commonLengths(first, second);
  const width = second.length + 1;
  let [left, right] = [[-1, -1], [first.length, second.length]];
  let [i, j] = [0, 0];
  while (i < first.length && j < second.length) {
    if (first[i] === second[j]) {
      if (i === number) return j;
      if (i < number) left = [i, j];
      else if (right[0] === first.length) right = [i, j];
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return right[0] - left[0] === right[1] - left[1] ? left[1] + number - left[0] : null;
}

function between(first, second) {
  const removed = (piece) => ["removed", piece];
  const added = (piece) => ["added", piece];
  if (first.length * second.length > MOST_CELLS) return [...first.map(removed), ...second.map(added)];
  const lengths = commonLengths(first, second);
  const width = second.length + 1;
  const found = [];
  let [i, j] = [0, 0];
  while (i < first.length && j < second.length) {
    if (first[i] === second[j]) {
      found.push(["same", first[i]]);
      i += 1;
      j += 1;
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
      found.push(removed(first[i]));
      i += 1;
    } else {
      found.push(added(second[j]));
      j += 1;
    }
  }
  return [...found, ...first.slice(i).map(removed), ...second.slice(j).map(added)];
}

/** lengths[i * width + j]: how many pieces first[i…] and second[j…] have in common, in order. */
function commonLengths(first, second) {
  const width = second.length + 1;
  const lengths = new Uint32Array((first.length + 1) * width);
  for (let i = first.length - 1; i >= 0; i -= 1) {
    for (let j = second.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        first[i] === second[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  return lengths;
}

/** Put neighbours of one kind together; within one change, what was removed comes first. */
function joined(pieces) {
  const found = [];
  let change = { removed: "", added: "" };
  const flush = () => {
    for (const kind of ["removed", "added"]) if (change[kind]) found.push([kind, change[kind]]);
    change = { removed: "", added: "" };
  };
  for (const [kind, piece] of pieces) {
    if (kind !== "same") {
      change[kind] += piece;
      continue;
    }
    flush();
    if (found.at(-1)?.[0] === "same") found.at(-1)[1] += piece;
    else found.push(["same", piece]);
  }
  flush();
  return found;
}

/** Count the characters to insert, delete or replace. */
export function editDistance(before, after) {
  return distance(Array.from(before), Array.from(after));
}

/** Count the words and signs to insert, delete or replace. */
export function tokenDistance(before, after) {
  return distance(tokensOf(before), tokensOf(after));
}

function tokensOf(text) {
  return piecesOf(text).filter((piece) => piece.trim());
}

/** Levenshtein's distance between two lists, by the bit vectors of Myers (1999). */
function distance(first, second) {
  const [short, long] = trimmed(first, second).sort((a, b) => a.length - b.length);
  if (!short.length) return long.length;
  const places = new Map();
  short.forEach((letter, place) => places.set(letter, (places.get(letter) ?? 0n) | (1n << BigInt(place))));
  const all = (1n << BigInt(short.length)) - 1n;
  const last = 1n << BigInt(short.length - 1);
  let [up, down, found] = [all, 0n, short.length];
  for (const letter of long) {
    const here = (places.get(letter) ?? 0n) | down;
    const level = ((((here & up) + up) ^ up) | here) & all; // where going diagonally costs nothing
    const less = up & level;
    const more = (down | ~(up | level)) & all;
    if (more & last) found += 1;
    else if (less & last) found -= 1;
    const shifted = ((more << 1n) | 1n) & all;
    down = shifted & level;
    up = ((less << 1n) | ~(shifted | level)) & all;
  }
  return found;
}

function trimmed(first, second) {
  const [start, end] = ends(first, second);
  return [first.slice(start, first.length - end), second.slice(start, second.length - end)];
}

/** Count the entries that two lists begin with alike, and those that they then end with. */
function ends(first, second) {
  const most = Math.min(first.length, second.length);
  let start = 0;
  while (start < most && first[start] === second[start]) start += 1;
  let end = 0;
  while (end < most - start && first.at(-1 - end) === second.at(-1 - end)) end += 1;
  return [start, end];
}
