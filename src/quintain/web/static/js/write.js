// The write page: live differences to the prompt, Ctrl+Enter, autosave, and a verdict that is also spoken.
// Everything works without it; what it adds is speed and the certainty that nothing typed is lost.

import { bindPassages } from "./span_select.js";
import { editDistance, wordDiff } from "./worddiff.js";

const SAVE_AFTER_MS = 800;
const STORE = "quintain:draft:";
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

function keepHere(element) {
  const entry = { at: Date.now(), values: typedIn(element) };
  try {
    localStorage.setItem(STORE + element.dataset.session, JSON.stringify(entry));
  } catch {
    // Private windows may have no room; the server keeps the draft too.
    return;
  }
}

function kept(element) {
  try {
    return JSON.parse(localStorage.getItem(STORE + element.dataset.session) ?? "null");
  } catch {
    return null;
  }
}

/** Put back what was typed here after the server last heard of it. */
function restore(element) {
  const entry = kept(element);
  if (!entry || entry.at <= Number(element.dataset.savedAt)) return;
  const seen = new Map();
  let changed = false;
  for (const [name, value] of entry.values) {
    const number = seen.get(name) ?? 0;
    seen.set(name, number + 1);
    const fields = [...element.elements].filter((field) => field.name === name);
    if (fields[0]?.type === "radio" || fields[0]?.type === "checkbox") {
      for (const field of fields) if (field.value === value && !field.checked) changed = field.checked = true;
    } else if (fields[number] && fields[number].value !== value) {
      fields[number].value = value;
      changed = true;
    }
  }
  if (changed) say(element.dataset.restored);
}

function forgetEnded() {
  for (const ended of document.querySelectorAll("[data-ended]")) localStorage.removeItem(STORE + ended.dataset.ended);
}

let timer = 0;

async function save(element) {
  const note = document.getElementById("saved");
  try {
    const answer = await fetch(element.dataset.autosave, { method: "POST", body: new FormData(element) });
    if (note) note.textContent = answer.ok ? element.dataset.savedText : element.dataset.keptText;
  } catch {
    if (note) note.textContent = element.dataset.keptText;
  }
}

function saveSoon(element) {
  keepHere(element);
  clearTimeout(timer);
  if (element.dataset.autosave) timer = setTimeout(() => save(element), SAVE_AFTER_MS);
}

// ---------- events ----------

function onChanged(event) {
  const element = event.target.closest?.("form[data-write]");
  if (!element) return;
  showDifferences();
  countCharacters();
  saveSoon(element);
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
  for (const [name, values] of Object.entries(JSON.parse(button.dataset.reuse))) {
    const fields = [...element.elements].filter((field) => field.name === name);
    fields.forEach((field, place) => (field.value = values[place] ?? ""));
  }
  showDifferences();
  countCharacters();
  saveSoon(element);
  element.querySelector("textarea, input[type=text]")?.focus();
}

function speakVerdict() {
  forgetEnded();
  const verdict = document.querySelector("#verdict [data-say]");
  if (!verdict || verdict.dataset.said) return;
  verdict.dataset.said = "true";
  say(verdict.dataset.say);
}

function begin() {
  const element = form();
  bindPassages();
  forgetEnded();
  if (element) restore(element);
  showDifferences();
  countCharacters();
}

document.addEventListener("input", onChanged);
document.addEventListener("change", onChanged);
document.addEventListener("quintain:changed", onChanged);
document.addEventListener("keydown", onKey);
document.addEventListener("click", onClick);
document.addEventListener("htmx:after:swap", speakVerdict);
// Coming back by the back button may show an old copy of the page: the newest text is put in again.
window.addEventListener("pageshow", (event) => event.persisted && begin());
begin();
