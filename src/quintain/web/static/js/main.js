// What every page does: keys, menus, dialogs, toasts, charts. Works on whatever htmx swaps in, too.

import { drawCharts } from "./charts.js";
import { watchTables } from "./scroll_hint.js";
import { toggleTheme } from "./theme.js";

const TYPING = "input, textarea, select, [contenteditable]";
const TOAST_SECONDS = 8;

function keysDialog() {
  return document.getElementById("keys");
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPING)) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "?") {
    event.preventDefault();
    keysDialog()?.showModal();
  } else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("site-search")?.focus();
  } else if (event.key === "d") {
    toggleTheme();
  } else if (event.key === "h") {
    document.querySelector("a.wordmark")?.click();
  }
}

function onEscape(event) {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
}

const sure = new WeakSet(); // forms whose question was answered with yes
const sent = new WeakSet(); // forms that are on their way

/** Rows that came or went are called by their number, as the others are. */
function numberRows(rows) {
  rows.querySelectorAll(".label-row").forEach((row, at) => {
    for (const control of row.querySelectorAll("[aria-label]")) {
      control.setAttribute("aria-label", control.getAttribute("aria-label").replace(/\d+/, at + 1));
    }
  });
}

const ACTIONS = {
  theme: () => toggleTheme(),
  keys: () => keysDialog()?.showModal(),
  close: (button) => button.closest("dialog")?.close(),
  dismiss: (button) => button.closest(".toast")?.remove(),
  "add-row": (button) => {
    const row = button.previousElementSibling.cloneNode(true);
    for (const input of row.querySelectorAll("input")) input.value = "";
    button.before(row);
    numberRows(row.parentElement);
    row.querySelector("input").focus();
  },
  "drop-row": (button) => {
    const row = button.parentElement;
    const rows = row.parentElement;
    if (rows.querySelectorAll(".label-row").length > 1) row.remove();
    else for (const input of row.querySelectorAll("input")) input.value = "";
    numberRows(rows);
    rows.querySelector("input").focus();
  },
  copy: async (button) => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.of).textContent.trim());
    button.textContent = button.dataset.done;
  },
};

function onClick(event) {
  const button = event.target.closest("[data-action]");
  if (button) ACTIONS[button.dataset.action]?.(button);
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
}

// A form that destroys something says so in a dialog of the page, not in one of the browser. What a form's controls are
// called stands before its own properties (`form.dataset`, `form.id`): ask for attributes alone.
function onSubmit(event) {
  const form = event.target;
  const question = form.getAttribute("data-confirm");
  if (!question || sure.has(form)) return;
  event.preventDefault();
  const dialog = document.querySelector("dialog[data-sure]");
  dialog.querySelector("p").textContent = question;
  dialog.returnValue = "";
  dialog.showModal();
  dialog.onclose = () => {
    if (dialog.returnValue !== "yes") return;
    sure.add(form);
    HTMLFormElement.prototype.requestSubmit.call(form, event.submitter);
  };
}

// Who clicks twice means one click. The answer to the first may be here before the second click is, and the second
// would then send the form of the answer; the browser counts the clicks that belong together.
function onSecondClick(event) {
  if (event.detail > 1 && event.target.closest?.("form[method=post] button:not([type=button])")) event.preventDefault();
}

// A form whose answer takes a while says what is happening, and is not sent twice.
function onBusy(event) {
  const note = event.target.querySelector?.("[data-busy]");
  if (!note || event.defaultPrevented) return;
  note.hidden = false;
  event.submitter?.setAttribute("aria-busy", "true");
  if (sent.has(event.target)) event.preventDefault();
  sent.add(event.target);
}

// A file that was chosen or dropped is looked at at once: nothing else is asked for beside it.
function onFile(event) {
  const input = event.target.closest?.("[data-goes-on]");
  if (input?.files.length && !input.multiple) input.form.querySelector("[name=step]").click();
}

function onDrag(event) {
  event.target.closest?.(".drop")?.classList.toggle("over", event.type === "dragover");
}

function fadeToasts() {
  for (const toast of document.querySelectorAll(".toast:not(.bad)")) {
    setTimeout(() => toast.remove(), TOAST_SECONDS * 1000);
  }
}

/** On a narrow screen the rooms of a task are a strip that scrolls: bring the one that is open into sight. */
function showRoom() {
  const [strip, open] = [document.querySelector(".side-groups"), document.querySelector(".side [aria-current]")];
  if (strip && open) strip.scrollLeft = open.offsetLeft - strip.offsetLeft - (strip.clientWidth - open.offsetWidth) / 2;
}

/** What an address or a link points at is seen, also within folds. */
function unfold(hash) {
  for (let fold = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1))); fold; fold = fold.parentElement) {
    if (fold.matches("details")) fold.open = true;
  }
}

document.addEventListener("keydown", onKey);
document.addEventListener("keydown", onEscape);
document.addEventListener("click", onClick);
document.addEventListener("click", (event) => unfold(event.target.closest?.("a[href^='#']")?.hash ?? ""));
window.addEventListener("hashchange", () => unfold(location.hash));
document.addEventListener("click", onSecondClick, true);
document.addEventListener("change", onFile);
for (const type of ["dragover", "dragleave", "drop"]) document.addEventListener(type, onDrag);
document.addEventListener("submit", onSubmit, true);
document.addEventListener("submit", onBusy);
document.addEventListener("quintain:theme", () => drawCharts());
document.addEventListener("htmx:after:swap", () => {
  drawCharts();
  watchTables();
  document.querySelector("[data-in-sight]")?.scrollIntoView({ block: "nearest" });
});
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawCharts());
fadeToasts();
showRoom();
unfold(location.hash);
drawCharts();
watchTables();
