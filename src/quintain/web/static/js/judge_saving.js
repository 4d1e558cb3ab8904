// Saves each answer of a judge page in the background, one request at a time, and says how that goes.
// A change gets a number that grows, so that of two saves the newer one stays, whichever arrives first.

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15000;

export class Saving {
  /** *shown* is where the state is written; *snapshot* gives what an item says now; *say* reads a sentence out. */
  constructor(form, shown, snapshot, say) {
    this.form = form;
    this.shown = shown;
    this.snapshot = snapshot;
    this.say = say;
    this.numbers = new Map();
    this.waiting = new Set();
    this.wait = FIRST_WAIT_MS;
    this.timer = 0;
    this.isBusy = false;
    this.isStopped = false;
    for (const item of form.querySelectorAll(".judge-item[data-saved]")) this.numbers.set(item.dataset.item, Number(item.dataset.saved));
    if (this.numbers.size) this.show("saved");
    window.addEventListener("online", () => this.retryNow());
  }

  /** Give the number of the last change of an item, or 0. */
  numberOf(id) {
    return this.numbers.get(id) ?? 0;
  }

  /** An item says something else now: save it soon. */
  changed(id) {
    this.numbers.set(id, Math.max(Date.now(), this.numberOf(id) + 1));
    this.waiting.add(id);
    this.run();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  retryNow() {
    this.wait = FIRST_WAIT_MS;
    clearTimeout(this.timer);
    this.run();
  }

  show(state) {
    const troubled = ["failed", "refused"];
    const before = this.shown.dataset.state;
    this.shown.dataset.state = state;
    this.shown.textContent = this.shown.dataset[state];
    // Trouble and its end are read out; "saved" after every answer would drown the items.
    const isNews = state !== before && (troubled.includes(state) || (before === "failed" && state === "saved"));
    if (isNews) this.say(this.shown.textContent);
  }

  async run() {
    if (this.isBusy || this.isStopped || !this.waiting.size) return;
    this.isBusy = true;
    clearTimeout(this.timer);
    if (this.shown.dataset.state !== "failed") this.show("busy");
    let state = "saved";
    while (this.waiting.size && state === "saved" && !this.isStopped) {
      const [id] = this.waiting;
      const number = this.numberOf(id);
      state = await this.send(id, number);
      if (state !== "failed" && this.numberOf(id) === number) this.waiting.delete(id);
    }
    this.isBusy = false;
    if (this.isStopped) return;
    this.show(state);
    if (state === "refused") this.stop(); // the page is over, or others have its items: what is here is handed in
    else if (state === "failed") {
      this.timer = setTimeout(() => this.run(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT_MS);
    } else this.wait = FIRST_WAIT_MS;
  }

  async send(id, number) {
    const said = this.snapshot(id);
    const body = new FormData();
    body.set("csrf", this.form.elements.namedItem("csrf").value);
    body.set("number", String(number));
    for (const name of ["label", "skip", "flag", "seconds"]) body.set(name, said[name]);
    if (said.flagged) body.set("flagged", "1");
    try {
      const answer = await fetch(`${this.form.getAttribute("action")}/answers/${id}`, { method: "POST", body, keepalive: true });
      if (!answer.ok || answer.redirected) return "failed";
      return "refused" in (await answer.json()) ? "refused" : "saved";
    } catch {
      return "failed";
    }
  }
}
