// The rows in sight. A row's place in the page is fixed and its content is not: when the order changes, the element at
// each place is lettered anew and glides in from where its model was. So nothing is moved in the document, nothing is
// measured between writes, and a frame costs what is in sight, however long the board.

import { element } from "./board_dom.js";

// Up to here every row is in the page, for the browser's own search; beyond, those in sight and a few around them.
const ALL = 150;
const AROUND = 3;
const GLIDE_MS = 180;
// The curve 1 − (1 − t)², so that where a row is in mid-flight can be computed rather than measured.
const EASING = "cubic-bezier(0.33333, 0.66667, 0.66667, 1)";
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

function spacer(columns) {
  const cell = element("td", { colspan: String(columns) });
  return { row: element("tr", { class: "board-space", "aria-hidden": "true" }, cell), cell, height: -1 };
}

export class Rows {
  /**
   * `make()` gives a slot `{row}`; `letter(slot, model, fresh)` writes a model into it, all of it when `fresh`.
   * `moved()` is called after other rows than before came into the page.
   */
  constructor(scroller, body, columns, { make, letter, moved }) {
    Object.assign(this, { scroller, body, make, letter, moved });
    this.above = spacer(columns);
    this.below = spacer(columns);
    this.slots = new Map();
    this.spare = [];
    this.order = [];
    this.unfolded = new Map(); // model → {row, height} shown beneath its row
    this.height = 56;
    this.view = { top: 0, height: window.innerHeight };
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.measure()).observe(scroller);
    this.sizes = new ResizeObserver((entries) => this.sized(entries));
  }

  get long() {
    return this.order.length > ALL;
  }

  /** Where the row at `place` begins, from the top of the body. */
  offset(place) {
    let extra = 0;
    for (const { at, height } of this.unfolded.values()) if (at < place) extra += height;
    return place * this.height + extra;
  }

  /** The place whose row covers `y`. */
  placeAt(y) {
    let [low, high] = [0, this.order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.offset(middle + 1) <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  window() {
    if (!this.long) return [0, this.order.length];
    const first = Math.max(0, this.placeAt(this.view.top) - AROUND);
    return [first, Math.min(this.order.length, this.placeAt(this.view.top + this.view.height) + 1 + AROUND)];
  }

  /** Put the models of `order` into the places in sight; `fresh` letters also those that stay where they are. */
  show(order, fresh = false) {
    const before = calm.matches ? null : this.whereabouts();
    this.order = order;
    if (this.unfolded.size) order.forEach((model, place) => this.unfolded.has(model) && (this.unfolded.get(model).at = place));
    this.scroller.classList.toggle("long", this.long);
    this.place(fresh);
    if (before?.size) this.glide(before);
  }

  /** Letter every slot in the window; take rows out of the page, and put them in, only where the window moved. */
  place(fresh = false) {
    const [first, last] = this.window();
    for (const [place, slot] of this.slots) {
      if (place >= first && place < last) continue;
      this.slots.delete(place);
      this.rest(slot);
      // The focus never falls out of the table with the row that had it.
      if (slot.row.contains(document.activeElement)) this.scroller.focus({ preventScroll: true });
      slot.row.remove();
      slot.model = null;
      this.spare.push(slot);
    }
    for (let place = first; place < last; place += 1) {
      let slot = this.slots.get(place);
      if (!slot) {
        slot = this.spare.pop() ?? this.make();
        slot.place = place;
        slot.row.setAttribute("aria-rowindex", place + 3); // two rows of headers come first
        this.slots.set(place, slot);
      }
      const model = this.order[place];
      const other = slot.model !== model;
      slot.model = model;
      slot.y = this.offset(place);
      this.letter(slot, model, other || fresh);
    }
    if (this.first !== first || this.last !== last || this.unfolded.size || this.folded) this.assemble(first, last);
  }

  assemble(first, last) {
    Object.assign(this, { first, last, folded: this.unfolded.size > 0 });
    const wanted = [];
    if (this.long) wanted.push(this.above.row);
    for (let place = first; place < last; place += 1) {
      wanted.push(this.slots.get(place).row);
      const beneath = this.unfolded.get(this.order[place]);
      if (beneath) wanted.push(beneath.row);
    }
    if (this.long) wanted.push(this.below.row);
    this.stretch(this.above, this.offset(first));
    this.stretch(this.below, this.offset(this.order.length) - this.offset(last));
    const keep = new Set(wanted);
    for (const row of [...this.body.children]) if (!keep.has(row)) row.remove();
    // Rows that stay are in their order already, so that inserting the others moves none of them, nor the focus.
    let cursor = this.body.firstChild;
    for (const row of wanted) {
      if (row === cursor) cursor = cursor.nextSibling;
      else this.body.insertBefore(row, cursor);
    }
    this.moved();
  }

  stretch(one, height) {
    if (one.height === height) return;
    one.height = height;
    one.cell.style.height = `${height}px`;
  }

  /** Where each model in the page is seen at this moment, in mid-flight too. */
  whereabouts() {
    const now = performance.now();
    const seen = new Map();
    for (const slot of this.slots.values()) seen.set(slot.model, slot.y + (slot.flight ? left(slot.flight, now) : 0));
    return seen;
  }

  glide(before) {
    const now = performance.now();
    const [top, bottom] = [this.view.top - this.height, this.view.top + this.view.height];
    const seen = (y) => y > top && y < bottom;
    for (const slot of this.slots.values()) {
      const from = before.get(slot.model) ?? slot.y;
      const by = seen(from) || seen(slot.y) ? from - slot.y : 0;
      if (slot.flight && Math.abs(by - left(slot.flight, now)) < 1) continue; // on its way to this very place
      this.rest(slot);
      if (Math.abs(by) < 1) continue;
      const frames = [{ transform: `translateY(${by.toFixed(1)}px)` }, { transform: "none" }];
      slot.flight = { by, start: now, animation: slot.row.animate(frames, { duration: GLIDE_MS, easing: EASING }) };
    }
  }

  rest(slot) {
    slot.flight?.animation.cancel();
    slot.flight = null;
  }

  scrolled() {
    this.view.top = this.scroller.scrollTop;
    if (!this.long) return;
    const [first, last] = this.window();
    if (first !== this.first || last !== this.last) this.place();
  }

  /** Read sizes; only when the page changes its own, never while a slider moves. */
  measure() {
    const row = this.slots.values().next().value?.row;
    const head = this.body.previousElementSibling.offsetHeight;
    this.height = row?.getBoundingClientRect().height || this.height;
    this.view = { top: this.scroller.scrollTop, height: Math.max(0, this.scroller.clientHeight - head) };
    this.scroller.style.scrollPaddingTop = `${head}px`;
    if (this.order.length) this.place();
  }

  sized(entries) {
    for (const { target } of entries) {
      const beneath = [...this.unfolded.values()].find((one) => one.row === target);
      if (beneath) beneath.height = target.offsetHeight;
    }
    this.place();
  }

  /** Show `row` beneath the row of `model`, or nothing there. */
  unfold(model, row) {
    const beneath = this.unfolded.get(model);
    if (beneath) this.sizes.unobserve(beneath.row);
    if (row) this.unfolded.set(model, { row, height: 0, at: this.order.indexOf(model) });
    else this.unfolded.delete(model);
    this.place();
    if (row) this.sizes.observe(row);
  }

  /** Bring `place` into the page and into sight, and give its slot. */
  reach(place) {
    if (!this.slots.has(place)) {
      this.scroller.scrollTop = this.offset(place) - this.view.height / 2;
      this.scrolled();
    }
    return this.slots.get(place);
  }
}

function left({ by, start }, now) {
  const rest = 1 - (now - start) / GLIDE_MS;
  return rest > 0 ? by * rest * rest : 0;
}
