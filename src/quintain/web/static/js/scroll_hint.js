// A table that is wider than its place says so: by a line above it, and by fading out where it goes on.

import { isRightToLeft } from "./direction.js";

const told = new WeakMap(); // each box with its line
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) tell(target.closest(".table-scroll"));
});

function tell(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  const atLeft = isRightToLeft(box) ? hidden + box.scrollLeft : box.scrollLeft;
  box.classList.toggle("more-left", atLeft > 1);
  box.classList.toggle("more-right", atLeft < hidden - 1);
  const line = told.get(box);
  if (line.hidden !== hidden < 2) line.hidden = hidden < 2;
}

/** Watch every table within `root` that is not watched yet. */
export function watchTables(root = document) {
  for (const box of root.querySelectorAll(".table-scroll")) {
    if (told.has(box)) continue;
    const line = document.createElement("p");
    line.className = "scroll-hint";
    line.ariaHidden = "true"; // who hears the table hears all of it
    line.hidden = true;
    line.textContent = document.body.dataset.more;
    box.before(line);
    told.set(box, line);
    box.addEventListener("scroll", () => tell(box), { passive: true });
    sizes.observe(box);
    if (box.firstElementChild) sizes.observe(box.firstElementChild);
  }
}
