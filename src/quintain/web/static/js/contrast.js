// The expert's desk: what changed and how much, words to click, text to mark, drafts to start from.
// Everything works without it: sizes are measured again on the server, and words can be typed.

import { bindPassages } from "./span_select.js";
import { editDistance, followWord, tokenDistance, wordDiff } from "./worddiff.js";

function form() {
  return document.querySelector("form[data-contrast]");
}

/** Give what a field holds, as the server reads it: lines and words with one space between them. */
function valueOf(element, name, widget) {
  const values = [...new FormData(element).getAll(name)].filter((one) => typeof one === "string");
  return normal(values.join("\n"), widget);
}

function normal(text, widget) {
  const trimmed = text.replaceAll("\r\n", "\n").trim();
  return widget === "tokens" || widget === "lines" ? trimmed.split(/\s*\n\s*|\s+/).filter(Boolean).join(" ") : trimmed;
}

// ---------- how large the edit is ----------

function sizeOf(widget, before, after) {
  if (widget === "token") return [0, 0];
  if (widget === "image") return before === after ? [0, 0] : [1, 1];
  return [tokenDistance(before, after), editDistance(before, after)];
}

function showDifference(box, before, after) {
  const nodes = wordDiff(before, after).map(([kind, text]) => {
    if (kind === "same") return document.createTextNode(text);
    const node = document.createElement(kind === "added" ? "ins" : "del");
    node.textContent = text;
    return node;
  });
  box.querySelector("[data-diff-text]").replaceChildren(...nodes);
  box.classList.toggle("unchanged", before === after);
}

function measure() {
  const element = form();
  if (!element) return;
  let [tokens, characters] = [0, 0];
  for (const [name, { widget, text }] of Object.entries(JSON.parse(element.dataset.before))) {
    const [before, after] = [normal(text, widget), valueOf(element, name, widget)];
    const [some, more] = sizeOf(widget, before, after);
    tokens += some;
    characters += more;
    const box = element.querySelector(`[data-edit-of="${name}"]`);
    if (box) showDifference(box, before, after);
  }
  showSize(element, tokens, characters);
}

function showSize(element, tokens, characters) {
  const meter = element.querySelector("#meter");
  const most = Number(element.dataset.most);
  const made = element.dataset.measure === "tokens" ? tokens : characters;
  const over = most > 0 && made > most;
  meter.querySelector("[data-tokens]").textContent = String(tokens);
  meter.querySelector("[data-characters]").textContent = String(characters);
  meter.querySelector("progress").value = most ? Math.min(made, most) : 0;
  meter.classList.toggle("over", over);
  element.querySelector("[data-reason]").classList.toggle("needed", over);
}

// ---------- marking an answer in the copy ----------

function markSelection(button) {
  const field = document.getElementById(button.dataset.markIn);
  const status = button.parentElement.querySelector("[data-mark-status]");
  const raw = field.value.slice(field.selectionStart, field.selectionEnd);
  if (!raw.trim()) {
    status.textContent = button.dataset.none;
    return;
  }
  const lead = field.value.length - field.value.trimStart().length; // which the server takes away
  const start = field.selectionStart + (raw.length - raw.trimStart().length);
  document.getElementById("answer").value = raw.trim();
  const before = field.value.slice(lead, start);
  document.getElementById("answer-start").value = String(Array.from(before).length);
  status.textContent = `„${raw.trim()}“`;
}

/** A place that was marked before the text changed, or before the answer was typed, is no place any more.

    That of the original the server moves along with the edit. */
function forgetPlace(event) {
  const start = document.getElementById("answer-start");
  const source = document.querySelector("[data-mark-in]")?.dataset.markIn;
  if (!start || (event.target.id !== "answer" && event.target.id !== source)) return;
  const gold = form() ? JSON.parse(form().dataset.gold) : null;
  const original = gold && start.value === String(gold.start) && document.getElementById("answer").value === gold.text;
  if (!original) start.value = "";
}

// ---------- clicking a word, which the edit then moves along ----------

const NAMED = /^(\d+):(\S+)$/;
const anchors = new Map(); // by field: the words of which it held a number, and that number

function wordsOf(text) {
  return text.split(/\s+/).filter(Boolean);
}

/** Name a word as the server does: by itself where it stands once, else with its number. */
function wordName(words, number) {
  const word = words[number];
  return words.filter((one) => one === word).length === 1 && !/^\d+$/.test(word) ? word : `${number}:${word}`;
}

/** Give the number that a field holds, by whatever name; -1 where that is not clear. */
function numberOf(words, text) {
  const named = text.trim().match(NAMED);
  if (named && words[Number(named[1])] === named[2]) return Number(named[1]);
  if (/^\d+$/.test(text.trim())) return Number(text);
  return words.filter((one) => one === text.trim()).length === 1 ? words.indexOf(text.trim()) : -1;
}

function anchor(box) {
  const [source, field] = [document.getElementById(box.dataset.wordsOf), document.getElementById(box.dataset.wordField)];
  const words = wordsOf(source.value);
  const number = numberOf(words, field.value);
  const before = form() && JSON.parse(form().dataset.before)[source.name];
  if (number < 0 && box.dataset.wordBefore && before) {
    const first = wordsOf(before.text);
    anchors.set(field.id, { words: first, number: numberOf(first, box.dataset.wordBefore) });
  } else anchors.set(field.id, { words, number });
}

/** Move what a field points at along with the edit; where another word stands there now, ask. */
function follow(box) {
  const [source, field] = [document.getElementById(box.dataset.wordsOf), document.getElementById(box.dataset.wordField)];
  const held = anchors.get(field.id);
  const words = wordsOf(source.value);
  const place = held.number < 0 ? null : followWord(held.words, words, held.number);
  const [old, now] = [held.words[held.number], place === null ? undefined : words[place]];
  const same = now !== undefined && now === old;
  if (same) field.value = wordName(words, place);
  // The server asks about an input that still has its old name; an answer is simply given again.
  else if (held.number >= 0) field.value = box.dataset.wordBefore || "";
  note(field.id, held.number < 0 || same ? "" : now === undefined ? "gone" : "changed", { old, new: now });
  return same ? place : -1;
}

function note(name, kind, words) {
  const element = document.querySelector(`[data-word-note="${name}"]`);
  if (!element) return;
  element.hidden = !kind;
  element.textContent = kind ? element.dataset[kind].replace(/\{(old|new)\}/g, (_, which) => words[which]) : "";
}

function showWords(box, chosen) {
  const words = wordsOf(document.getElementById(box.dataset.wordsOf).value);
  const focused = [...box.children].indexOf(document.activeElement);
  box.replaceChildren(
    ...words.map((word, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = word;
      button.setAttribute("aria-pressed", String(place === chosen));
      button.dataset.place = String(place);
      return button;
    }),
  );
  if (focused >= 0) box.children[focused]?.focus();
}

function wordBoxes() {
  return document.querySelectorAll("[data-words-of]");
}

function showAllWords(event) {
  for (const box of wordBoxes()) {
    if (!event || event.target.id === box.dataset.wordField) anchor(box);
    const typing = event?.target.id === box.dataset.wordField;
    showWords(box, typing ? anchors.get(box.dataset.wordField).number : follow(box));
    if (typing) note(box.dataset.wordField, "", {});
  }
}

function chooseWord(button) {
  const box = button.parentElement;
  const words = wordsOf(document.getElementById(box.dataset.wordsOf).value);
  const field = document.getElementById(box.dataset.wordField);
  field.value = wordName(words, Number(button.dataset.place));
  anchors.set(field.id, { words, number: Number(button.dataset.place) });
  note(field.id, "", {});
  showWords(box, Number(button.dataset.place));
}

// ---------- an answer that is meant to stay ----------

/** Fill in the original's answer, moved along with its words; without the tick, take it out again. */
function keepAnswer(stays) {
  const gold = JSON.parse(form().dataset.gold);
  for (const control of form().querySelectorAll("[name=answer]")) {
    if (control.type === "radio" || control.type === "checkbox") {
      const right = gold.chosen.includes(control.value);
      if (stays) control.checked = right;
      else if (right) control.checked = false;
    } else if (gold.widget === "token") keepWord(control, gold.text, stays);
    else if (stays) {
      control.value = gold.text;
      const start = document.getElementById("answer-start");
      if (start) start.value = gold.start;
    }
  }
}

function keepWord(field, name, stays) {
  const box = document.querySelector(`[data-word-field="${field.id}"]`);
  const source = document.getElementById(box.dataset.wordsOf);
  const first = wordsOf(JSON.parse(form().dataset.before)[source.name].text);
  anchors.set(field.id, stays ? { words: first, number: numberOf(first, name) } : { words: first, number: -1 });
  if (!stays) field.value = "";
  showWords(box, follow(box));
}

// ---------- starting from a draft ----------

function startFrom(button) {
  const element = form();
  const field = document.getElementById(button.dataset.draftField);
  field.value = button.dataset.draftText;
  element.querySelector("[name=draft]").value = button.dataset.draft;
  element.querySelector("[data-draft-used]").classList.add("used");
  measure();
  showAllWords({ target: field });
  field.focus();
}

function onClick(event) {
  const button = event.target.closest?.("button");
  if (!button) return;
  if (button.dataset.markIn) markSelection(button);
  else if (button.dataset.place) chooseWord(button);
  else if (button.dataset.draft) startFrom(button);
}

function onChanged(event) {
  const picked = event.target.dataset?.pick;
  if (picked) document.getElementById(picked).value = event.target.value;
  if (event.target.name === "keeps_label") keepAnswer(event.target.checked);
  else forgetPlace(event);
  measure();
  showAllWords(event);
}

function onKey(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  if (!form() || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  form().requestSubmit();
}

document.addEventListener("click", onClick);
document.addEventListener("input", onChanged);
document.addEventListener("keydown", onKey);
bindPassages();
measure();
showAllWords();
