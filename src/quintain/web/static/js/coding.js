// The desk of hand coding: digits choose categories, 0 none of them, Enter goes on, u goes back.

const form = document.querySelector("[data-coding]");
const none = form?.querySelector("[data-none]");

function inputs() {
  return [...form.querySelectorAll("input[name=category]")];
}

/** None of the categories and some of them exclude each other. */
function settle(changed) {
  if (!changed.checked || changed.type !== "checkbox") return;
  for (const one of inputs()) {
    if (one !== changed && (changed === none || one === none)) one.checked = false;
  }
}

function choose(option) {
  if (!option) return;
  option.checked = option.type === "radio" ? true : !option.checked;
  option.focus();
  settle(option);
}

form?.addEventListener("change", (event) => {
  if (event.target.name === "category") settle(event.target);
});

form?.addEventListener("submit", (event) => {
  if (inputs().some((one) => one.checked)) return;
  event.preventDefault();
  form.querySelector(".judge-labels").classList.add("wanted");
  inputs()[0].focus();
});

document.addEventListener("keydown", (event) => {
  if (!form || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("dialog, .search")) return;
  const typing = event.target.id === "note";
  if (!typing && /^[0-9]$/.test(event.key)) {
    choose(event.key === "0" ? none : inputs().filter((one) => one !== none)[Number(event.key) - 1]);
  } else if (event.key === "Enter" && !event.target.closest("a, button, summary")) {
    form.requestSubmit();
  } else if (!typing && event.key === "u") {
    document.querySelector("[data-back]")?.click();
  } else {
    return;
  }
  event.preventDefault();
});
