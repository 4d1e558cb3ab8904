// A page of the help: the tree shows where one is, the contents follow what is read.

const tree = document.getElementById("help-tree");
const current = tree?.querySelector("li [aria-current]");
// Scrolls the tree alone: the page stays where its address says.
if (current) tree.scrollTop = current.offsetTop - tree.offsetTop - tree.clientHeight / 3;

const links = new Map();
for (const link of document.querySelectorAll(".help-contents a")) links.set(decodeURIComponent(link.hash.slice(1)), link);
const headings = [...document.querySelectorAll(".help :is(h2, h3)[id]")].filter((heading) => links.has(heading.id));

/** The heading that is read is the last one above the upper third of the window. */
function follow() {
  const above = headings.filter((heading) => heading.getBoundingClientRect().top < window.innerHeight / 3);
  const read = (above.at(-1) ?? headings[0])?.id;
  for (const [name, link] of links) {
    if (name === read) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
}

let waiting = false;
function onScroll() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    follow();
  });
}

if (headings.length) {
  document.addEventListener("scroll", onScroll, { passive: true });
  follow();
}
