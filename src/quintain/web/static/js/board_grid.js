// The table as a grid: arrow keys go from cell to cell, and the cell that is pointed at or focused says what it rests on.

import { element } from "./board_dom.js";
import { stepOf } from "./direction.js";

const COLUMN_OF_NAME = 1;
const POINT_MS = 200;

export class Grid {
  /** `about(slot, column)` gives the lines that a cell has to say. */
  constructor(rows, tip, about) {
    Object.assign(this, { rows, tip, about });
    this.place = 0;
    this.column = COLUMN_OF_NAME;
    const { body, scroller } = rows;
    body.addEventListener("keydown", (event) => this.onKey(event));
    body.addEventListener("focusin", (event) => this.onFocus(event));
    body.addEventListener("focusout", () => this.hide());
    body.addEventListener("pointerover", (event) => this.onPoint(event));
    body.addEventListener("pointerleave", (event) => !tip.contains(event.relatedTarget) && this.hide());
    tip.addEventListener("pointerleave", () => this.hide());
    for (const target of [scroller, window]) target.addEventListener("scroll", () => this.onScroll(), { passive: true });
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
  }

  slotOf(node) {
    const row = node.closest?.("tr.board-row");
    return row ? this.rows.slots.get(Number(row.getAttribute("aria-rowindex")) - 3) : undefined;
  }

  /** Which of the slot's stops the node is in; -1 for none. */
  columnOf(slot, node) {
    return slot ? slot.stops.findIndex((stop, column) => (column === COLUMN_OF_NAME ? stop.closest("th") : stop).contains(node)) : -1;
  }

  /** After rows came and went: there is always exactly one way in with Tab. */
  sync() {
    const { slots, first, last } = this.rows;
    if (!slots.has(this.place)) this.place = Math.floor((first + last) / 2);
    this.mark();
  }

  mark() {
    const stop = this.rows.slots.get(this.place)?.stops[this.column];
    if (!stop || stop === this.way) return;
    this.way?.setAttribute("tabindex", "-1");
    stop.setAttribute("tabindex", "0");
    this.way = stop;
  }

  onKey(event) {
    const slot = this.slotOf(event.target);
    if (!slot || event.altKey || event.metaKey) return;
    const last = this.rows.order.length - 1;
    const end = slot.stops.length - 1;
    const page = Math.max(1, Math.floor(this.rows.view.height / this.rows.height) - 1);
    const goal = {
      ArrowUp: [slot.place - 1, this.column],
      ArrowDown: [slot.place + 1, this.column],
      ArrowLeft: [slot.place, this.column + stepOf("ArrowLeft")],
      ArrowRight: [slot.place, this.column + stepOf("ArrowRight")],
      PageUp: [slot.place - page, this.column],
      PageDown: [slot.place + page, this.column],
      Home: [event.ctrlKey ? 0 : slot.place, 0],
      End: [event.ctrlKey ? last : slot.place, end],
    }[event.key];
    if (!goal) return;
    event.preventDefault();
    this.go(Math.min(last, Math.max(0, goal[0])), Math.min(end, Math.max(0, goal[1])));
  }

  go(place, column) {
    const slot = this.rows.reach(place);
    this.place = place;
    this.column = column;
    this.mark();
    slot.stops[column].focus();
  }

  onFocus(event) {
    const slot = this.slotOf(event.target);
    const column = this.columnOf(slot, event.target);
    if (column < 0) return;
    Object.assign(this, { place: slot.place, column });
    this.mark();
    this.tell(slot, column);
    this.described = slot.stops[column];
    this.described.setAttribute("aria-describedby", this.tip.id);
  }

  onPoint(event) {
    const slot = this.slotOf(event.target);
    const column = this.columnOf(slot, event.target);
    this.hide();
    // A pointer on its way across the table is not asking.
    if (column >= 0) this.waiting = setTimeout(() => this.tell(slot, column), POINT_MS);
  }

  /** Show what the cell rests on, beside it. */
  tell(slot, column) {
    this.hide();
    const { tip } = this;
    const box = slot.row.children[column].getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    tip.replaceChildren(...this.about(slot, column).map((line) => element("span", {}, line)));
    tip.hidden = false;
    const beneath = box.bottom + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${Math.max(8, Math.min(box.left, width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${beneath ? box.bottom - 2 : box.top - tip.offsetHeight + 2}px`;
  }

  onScroll() {
    const { described } = this;
    const slot = described && this.slotOf(described);
    if (!slot) return this.hide();
    this.tell(slot, this.column);
    this.described = described;
    described.setAttribute("aria-describedby", this.tip.id);
  }

  hide() {
    clearTimeout(this.waiting);
    this.tip.hidden = true;
    this.described?.removeAttribute("aria-describedby");
    this.described = null;
  }
}
