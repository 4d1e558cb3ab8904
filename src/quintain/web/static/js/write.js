// The write page: live differences to the prompt, Ctrl+Enter, autosave, and a verdict that is also spoken.
// Everything works without it; what it adds is speed and the certainty that nothing typed is lost.

import { bindPassages } from "./span_select.js";
import { editDistance, wordDiff } from "./worddiff.js";

const SAVE_AFTER_MS = 800;
const STORE = "quintain:draft:";
const TEXT_BOXES = "textarea:not([readonly]), input[type=text]:not([readonly])";
const SKIPPED = new Set(["csrf", "token"]);

function form() {
  return document.querySelector("form[data-write]");
}

function say(text) {
  const region = document.getElementById("say");
  if (!region || !text) return;
  region.textContent = "";
  setTimeout(() => (region.textContent = text), 50); // a repeated sentence is spoken again
}

// ---------- differences to the prompt ----------

function showDifference(box) {
  const field = document.getElementById(box.dataset.diffOf);
  const before = box.dataset.before;
  box.hidden = !field.value; // nothing is changed before anything is written
  const nodes = wordDiff(before, field.value).map(([kind, text]) => {
    if (kind === "same") return document.createTextNode(text);
    const node = document.createElement(kind === "added" ? "ins" : "del");
    node.textContent = text;
    return node;
  });
  box.querySelector("[data-diff-text]").replaceChildren(...nodes);
  box.querySelector("[data-diff-distance]").textContent = String(editDistance(before, field.value));
  box.classList.toggle("unchanged", before === field.value);
}

function showDifferences() {
  for (const box of document.querySelectorAll("[data-diff-of]")) showDifference(box);
}

function countCharacters() {
  for (const counter of document.querySelectorAll("[data-count-of]")) {
    counter.textContent = String(Array.from(document.getElementById(counter.dataset.countOf).value).length);
  }
}

// ---------- keeping what is typed ----------

function typedIn(element) {
  return [...new FormData(element)].filter(([name, value]) => typeof value === "string" && !SKIPPED.has(name));
}

// Only what the server has not confirmed is kept here, so that whatever is found here is the newest.
function keepHere(element) {
  try {
    localStorage.setItem(STORE + element.dataset.session, JSON.stringify(typedIn(element)));
  } catch {
    return; // Private windows may have no room; the server keeps the draft too.
  }
}

function forget(session) {
  localStorage.removeItem(STORE + session);
}

function fill(element, entries) {
  const seen = new Map();
  let changed = false;
  for (const [name, value] of entries) {
    const number = seen.get(name) ?? 0;
    seen.set(name, number + 1);
    const fields = [...element.elements].filter((field) => field.name === name);
    const choices = fields.filter((field) => field.type === "radio" || field.type === "checkbox");
    for (const field of choices) {
      if (field.value === value && !field.checked) changed = field.checked = true;
    }
    const typed = fields.filter((field) => !choices.includes(field))[number];
    if (typed && typed.value !== value) {
      typed.value = value;
      changed = true;
    }
  }
  return changed;
}

/** Put back what was typed here and never reached the server. */
function restore(element) {
  let entries = null;
  try {
    entries = JSON.parse(localStorage.getItem(STORE + element.dataset.session) ?? "null");
  } catch {
    return;
  }
  if (entries && fill(element, entries)) say(element.dataset.restored);
}

function forgetEnded() {
  for (const ended of document.querySelectorAll("[data-ended]")) forget(ended.dataset.ended);
}

let timer = 0;

async function save(element) {
  const note = document.getElementById("saved");
  const sent = JSON.stringify(typedIn(element));
  let kept = false;
  try {
    kept = (await fetch(element.dataset.autosave, { method: "POST", body: new FormData(element) })).ok;
  } catch {
    kept = false;
  }
  if (kept && sent === JSON.stringify(typedIn(element))) forget(element.dataset.session);
  if (note) note.textContent = kept ? element.dataset.savedText : element.dataset.keptText;
}

function saveSoon(element) {
  if (!element.dataset.autosave) return; // the sandbox keeps nothing
  keepHere(element);
  clearTimeout(timer);
  timer = setTimeout(() => save(element), SAVE_AFTER_MS);
}

// ---------- events ----------

function onChanged(event) {
  const element = event.target.closest?.("form[data-write]");
  if (!element) return;
  showDifferences();
  countCharacters();
  saveSoon(element);
}

const TEXT_FIELDS = "textarea, input:not([type=radio]):not([type=checkbox]), select, [contenteditable]";

/** Choose the label aimed at: by its number, with Alt while one is typing. */
function onDigit(event) {
  if (event.ctrlKey || event.metaKey || !/^Digit[1-9]$/.test(event.code)) return;
  if (!event.altKey && event.target.closest?.(TEXT_FIELDS)) return;
  const choices = form()?.querySelectorAll("input[type=radio][name=answer]") ?? [];
  const chosen = choices[Number(event.code.slice(-1)) - 1];
  if (!chosen || chosen.disabled || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  chosen.checked = true;
  chosen.dispatchEvent(new Event("change", { bubbles: true }));
  if (!event.altKey) form().querySelector(TEXT_BOXES)?.focus({ preventScroll: true });
}

function onKey(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const element = form();
  if (!element || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  clearTimeout(timer);
  element.requestSubmit();
}

function onClick(event) {
  const button = event.target.closest("[data-reuse]");
  const element = form();
  if (!button || !element) return;
  event.preventDefault(); // without scripts it is a link
  const values = Object.entries(JSON.parse(button.dataset.reuse));
  for (const [name] of values) {
    for (const field of element.elements) {
      if (field.name === name && field.type !== "radio" && field.type !== "checkbox") field.value = "";
    }
  }
  fill(element, values.flatMap(([name, several]) => several.map((value) => [name, value])));
  showDifferences();
  countCharacters();
  saveSoon(element);
  element.querySelector("textarea, input[type=text]")?.focus();
}

/** After an answer: say it, and lead to what is asked next. */
function onAnswer() {
  const element = form();
  const verdict = document.querySelector("#verdict [data-say]");
  forgetEnded();
  if (!verdict || verdict.dataset.said) return;
  verdict.dataset.said = "true";
  clearTimeout(timer);
  if (element) forget(element.dataset.session);
  document.getElementById("trouble")?.replaceChildren();
  say(verdict.dataset.say);
  document.querySelector("#writing [data-focus]")?.focus({ preventScroll: false });
}

function onLost() {
  const [element, trouble] = [form(), document.getElementById("trouble")];
  if (!element || !trouble) return;
  const note = document.createElement("p");
  note.className = "notice bad";
  note.textContent = element.dataset.lost;
  trouble.replaceChildren(note);
}

function begin() {
  const element = form();
  bindPassages();
  forgetEnded();
  if (element?.dataset.autosave) restore(element);
  showDifferences();
  countCharacters();
  focusFirst(element);
}

/** Begin with the label that is aimed at, where one is to be chosen, or where one writes; unless somebody is elsewhere. */
function focusFirst(element) {
  if (document.activeElement !== document.body || location.hash) return;
  const labels = [...(element?.querySelectorAll(".aim-pick input[type=radio]") ?? [])];
  const first = labels.some((label) => label.checked) ? null : labels[0];
  (first ?? element?.querySelector(TEXT_BOXES))?.focus({ preventScroll: true });
}

document.addEventListener("input", onChanged);
document.addEventListener("change", onChanged);
document.addEventListener("quintain:changed", onChanged);
document.addEventListener("keydown", onKey);
document.addEventListener("keydown", onDigit);
document.addEventListener("click", onClick);
document.addEventListener("htmx:after:swap", onAnswer);
document.addEventListener("htmx:error", onLost);
// Coming back by the back button may show an old copy of the page: the newest text is put in again.
window.addEventListener("pageshow", (event) => event.persisted && begin());
begin();
