// Selecting an answer in a passage: with the mouse or a finger as in any text, or word by word with the keys.
// What is chosen goes into the two fields that the form sends; whoever cannot select may type the answer instead.

import { stepOf } from "./direction.js";
import { isWord, piecesOf } from "./words.js";

/** Count characters as the server does: an emoji is one, not two. */
function characters(text) {
  return Array.from(text).length;
}

class Passage {
  constructor(element) {
    this.element = element;
    this.text = element.textContent;
    this.field = document.getElementById(element.dataset.field);
    this.start = document.getElementById(element.dataset.start);
    this.status = document.getElementById(element.dataset.status);
    this.words = [];
    let place = 0;
    for (const piece of piecesOf(this.text)) {
      if (isWord(piece)) this.words.push([place, place + piece.length]);
      place += piece.length;
    }
    this.anchor = 0;
    this.head = 0;
    element.addEventListener("pointerup", () => setTimeout(() => this.takeSelection()));
    element.addEventListener("keydown", (event) => this.onKey(event));
    element.addEventListener("focus", () => this.onFocus());
    element.addEventListener("blur", () => this.element.classList.remove("by-key"));
    this.field.addEventListener("input", () => this.onTyped());
    this.showStored();
  }

  /** Take what was selected with the mouse, without the spaces around it. */
  takeSelection() {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return;
    const range = selection.getRangeAt(0);
    if (!this.element.contains(range.commonAncestorContainer)) return;
    const before = document.createRange();
    before.selectNodeContents(this.element);
    before.setEnd(range.startContainer, range.startOffset);
    const raw = range.toString();
    const start = before.toString().length + (raw.length - raw.trimStart().length);
    const end = start + raw.trim().length;
    if (end <= start) return;
    selection.removeAllRanges();
    this.take(start, end);
  }

  take(start, end) {
    this.field.value = this.text.slice(start, end);
    this.start.value = String(characters(this.text.slice(0, start)));
    this.mark(start, end);
    this.status.textContent = this.element.dataset.chosen.replace("{text}", this.field.value);
    this.field.dispatchEvent(new CustomEvent("quintain:changed", { bubbles: true }));
  }

  /** What is typed is looked for by the server; here it is only shown, where it stands first. */
  onTyped() {
    this.start.value = "";
    const found = this.field.value.trim() ? this.text.indexOf(this.field.value.trim()) : -1;
    this.mark(found, found < 0 ? found : found + this.field.value.trim().length);
  }

  showStored() {
    const wanted = this.field.value;
    if (!wanted) return;
    const start = this.start.value === "" ? this.text.indexOf(wanted) : Array.from(this.text).slice(0, Number(this.start.value)).join("").length;
    if (start >= 0 && this.text.startsWith(wanted, start)) this.mark(start, start + wanted.length);
  }

  mark(start, end) {
    this.element.textContent = this.text;
    if (start < 0 || end <= start) return;
    const range = document.createRange();
    range.setStart(this.element.firstChild, start);
    range.setEnd(this.element.firstChild, end);
    range.surroundContents(document.createElement("mark"));
  }

  onFocus() {
    if (!this.words.length || !this.element.matches(":focus-visible")) return;
    this.element.classList.add("by-key");
    if (!this.field.value) this.show();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.words.length) return;
    const last = this.words.length - 1;
    const step = stepOf(event.key, this.element);
    const to = { ArrowRight: this.head + step, ArrowLeft: this.head + step, Home: 0, End: last, ArrowDown: this.head + 10, ArrowUp: this.head - 10 }[event.key];
    if (event.key === "Escape" && this.field.value) this.clear();
    else if (event.key === "Enter" || event.key === " ") this.takeWords();
    else if (to === undefined) return;
    else {
      this.head = Math.min(Math.max(to, 0), last);
      if (!event.shiftKey) this.anchor = this.head;
      this.show();
      if (event.shiftKey) this.takeWords();
    }
    event.preventDefault();
  }

  range() {
    const [first, second] = [Math.min(this.anchor, this.head), Math.max(this.anchor, this.head)];
    return [this.words[first][0], this.words[second][1]];
  }

  /** Show and say where the keys are. */
  show() {
    const [start, end] = this.range();
    this.mark(start, end);
    this.status.textContent = this.text.slice(start, end);
    this.element.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  }

  takeWords() {
    this.take(...this.range());
  }

  clear() {
    this.field.value = "";
    this.start.value = "";
    this.mark(-1, -1);
    this.status.textContent = this.element.dataset.cleared;
  }
}

export function bindPassages(root = document) {
  for (const element of root.querySelectorAll("[data-span]:not([data-bound])")) {
    element.dataset.bound = "true";
    new Passage(element);
  }
}
