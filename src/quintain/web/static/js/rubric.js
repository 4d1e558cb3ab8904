// The rubric page: a digit chooses an option of the first question that has none, Enter sends.

const form = document.querySelector("[data-rubric]");

function chosen(set) {
  return set.querySelector("input:checked");
}

document.addEventListener("keydown", (event) => {
  if (!form || event.ctrlKey || event.altKey || event.metaKey) return;
  if (/^[1-9]$/.test(event.key)) {
    const open = [...form.querySelectorAll("fieldset")].find((set) => !chosen(set));
    const option = open?.querySelectorAll("input")[Number(event.key) - 1];
    if (!option) return;
    option.checked = true;
    option.focus();
    event.preventDefault();
  } else if (event.key === "Enter" && event.target.type === "radio") {
    form.requestSubmit();
    event.preventDefault();
  }
});
