// Adjudication by keys: numbers choose, Enter decides, Ctrl-Z takes the last decision back, arrows go through the queue.

import { stepOf } from "./direction.js";

const form = document.querySelector("[data-decide]");

function onKey(event) {
  if (document.querySelector("dialog[open]")) return;
  const field = event.target.closest("input[type=text], input[type=search], textarea, select");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !field?.value) {
    event.preventDefault();
    document.querySelector("[data-undo] button")?.click();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || field) return;
  const isRadio = event.target.matches("input[type=radio]");
  if (/^[0-9]$/.test(event.key)) choose(event.key);
  else if (event.key === "Enter" && !event.target.closest("button, a, summary")) decide(event);
  else if (event.key === "?" && isRadio) document.getElementById("keys").showModal();
  else if (stepOf(event.key) && !isRadio) document.querySelector(`.judge-bar [rel=${stepOf(event.key) > 0 ? "next" : "prev"}]`)?.click();
}

function choose(key) {
  const radio = form?.querySelector(`input[data-key="${key}"]`);
  if (!radio) return;
  radio.checked = true;
  document.getElementById("say").textContent = radio.closest("label").querySelector("b").textContent;
}

function decide(event) {
  if (!form?.querySelector("input[type=radio]:checked")) return;
  event.preventDefault();
  form.requestSubmit();
}

document.addEventListener("keydown", onKey);
form?.querySelector(".judge-number").focus();
