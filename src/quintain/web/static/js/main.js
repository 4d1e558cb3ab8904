// What every page does: keys, menus, dialogs, toasts, charts. Works on whatever htmx swaps in, too.

import { drawCharts } from "./charts.js";
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
    document.getElementById("search")?.focus();
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

const ACTIONS = {
  theme: () => toggleTheme(),
  keys: () => keysDialog()?.showModal(),
  close: (button) => button.closest("dialog")?.close(),
  dismiss: (button) => button.closest(".toast")?.remove(),
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

// A form that destroys something says so in a dialog of the page, not in one of the browser.
function onSubmit(event) {
  const question = event.target.dataset?.confirm;
  if (!question || event.target.dataset.confirmed) return;
  event.preventDefault();
  const dialog = document.getElementById("confirm");
  dialog.querySelector("p").textContent = question;
  dialog.returnValue = "";
  dialog.showModal();
  dialog.onclose = () => {
    if (dialog.returnValue !== "yes") return;
    event.target.dataset.confirmed = "true";
    event.target.requestSubmit(event.submitter);
  };
}

// A form whose answer takes a while says what is happening, and is not sent twice.
function onBusy(event) {
  const note = event.target.querySelector?.("[data-busy]");
  if (!note || event.defaultPrevented) return;
  note.hidden = false;
  event.submitter?.setAttribute("aria-busy", "true");
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "true";
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

document.addEventListener("keydown", onKey);
document.addEventListener("keydown", onEscape);
document.addEventListener("click", onClick);
document.addEventListener("submit", onSubmit, true);
document.addEventListener("submit", onBusy);
document.addEventListener("quintain:theme", () => drawCharts());
document.addEventListener("htmx:after:swap", () => drawCharts());
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawCharts());
fadeToasts();
showRoom();
drawCharts();
