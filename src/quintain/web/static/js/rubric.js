// The rubric page: a digit chooses an option, arrows move between questions, Enter sends, Ctrl+Z undoes, b goes back.

const form = document.querySelector("[data-rubric]");
const sets = form ? [...form.querySelectorAll("fieldset")] : [];
const said = document.getElementById("say");
const undone = form?.querySelector("[data-undo]");
const before = []; // what was changed: the question, and what was chosen until then

function chosen(set) {
  return set.querySelector("input:checked");
}

function current() {
  const focused = sets.find((set) => set.contains(document.activeElement));
  return focused && !chosen(focused) ? focused : sets.find((set) => !chosen(set)) ?? focused;
}

const answers = new Map(sets.map((set) => [set, chosen(set)]));

function note(set) {
  before.push([set, answers.get(set)]);
  answers.set(set, chosen(set));
  if (undone) undone.hidden = false;
}

function choose(set, number) {
  const option = set?.querySelectorAll("input")[number - 1];
  if (!option) return false;
  option.checked = true;
  option.focus();
  if (answers.get(set) !== option) note(set);
  return true;
}

function undo() {
  const last = before.pop();
  if (!last) {
    if (said) said.textContent = form.dataset.nothing;
    return;
  }
  const [set, option] = last;
  for (const input of set.querySelectorAll("input")) input.checked = input === option;
  answers.set(set, option);
  (option ?? set.querySelector("input")).focus();
  if (said) said.textContent = form.dataset.undone;
  undone.hidden = before.length === 0;
}

function move(step) {
  const place = sets.findIndex((set) => set.contains(document.activeElement));
  const next = sets[Math.min(sets.length - 1, Math.max(0, place + step))];
  (chosen(next) ?? next.querySelector("input")).focus();
}

function typing(target) {
  return target.matches("textarea, select, input:not([type=radio])");
}

form?.addEventListener("change", (event) => {
  const set = event.target.closest("fieldset");
  if (set && answers.get(set) !== event.target) note(set);
});
undone?.addEventListener("click", undo);

document.addEventListener("keydown", (event) => {
  if (!form || event.altKey || typing(event.target)) return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() !== "z" || event.shiftKey) return;
    undo();
  } else if (/^[1-9]$/.test(event.key)) {
    if (!choose(current(), Number(event.key))) return;
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && event.target.type === "radio") {
    form.requestSubmit();
  } else if (event.key === "b") {
    document.querySelector("[data-back]")?.click();
  } else {
    return;
  }
  event.preventDefault();
});

const timer = document.querySelector("[data-left]");
if (timer) {
  const end = Date.now() + Number(timer.dataset.left) * 1000;
  setInterval(() => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    timer.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }, 1000);
}
