// The expert's desk: what changed and how much, words to click, text to mark, drafts to start from.
// Everything works without it: sizes are measured again on the server, and words can be typed.

import { bindPassages } from "./span_select.js";
import { editDistance, tokenDistance, wordDiff } from "./worddiff.js";

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

/** A place that was marked before the text changed, or before the answer was typed, is no place any more. */
function forgetPlace(event) {
  const start = document.getElementById("answer-start");
  const source = document.querySelector("[data-mark-in]")?.dataset.markIn;
  if (start && (event.target.id === "answer" || event.target.id === source)) start.value = "";
}

// ---------- clicking a word ----------

function showWords(box) {
  const source = document.getElementById(box.dataset.wordsOf);
  const field = document.getElementById(box.dataset.wordField);
  const words = source.value.split(/\s+/).filter(Boolean);
  const chosen = /^\d+$/.test(field.value.trim()) ? Number(field.value) : words.indexOf(field.value.trim());
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

function showAllWords() {
  for (const box of document.querySelectorAll("[data-words-of]")) showWords(box);
}

function chooseWord(button) {
  document.getElementById(button.parentElement.dataset.wordField).value = button.dataset.place;
  showAllWords();
}

// ---------- starting from a draft ----------

function startFrom(button) {
  const element = form();
  const field = document.getElementById(button.dataset.draftField);
  field.value = button.dataset.draftText;
  element.querySelector("[name=draft]").value = button.dataset.draft;
  element.querySelector("[data-draft-used]").classList.add("used");
  measure();
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
  forgetPlace(event);
  measure();
  showAllWords();
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
