// The judge page: one item in focus, keys, undo, a lease that lasts while somebody is there.
// Each answer is saved on the server as it is given, and kept in this browser too until then: see judge_saving.js.

import { stepOf } from "./direction.js";
import { Saving } from "./judge_saving.js";
import { number } from "./numbers.js";

const STORE = "quintain:judge:";
const VIEW = "quintain:judge-view";
const GUIDE = "quintain:judge-guide";
const QUICK = "quintain:judge-quick";
const BEATS_PER_LEASE = 4;
const NARROW = window.matchMedia("(max-width: 900px)");

const form = document.getElementById("judge");
const state = { current: 0, undo: [], shownAt: performance.now(), left: 0, activeAt: Date.now(), warned: false, busy: false };
const itemOf = (id) => items().find((item) => item.dataset.item === id);
const saving = form ? new Saving(form, document.querySelector("[data-saving]"), (id) => snapshot(itemOf(id)), say) : null;

function items() {
  return [...form.querySelectorAll(".judge-item")];
}

function read(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // private windows may refuse; the page works without
  }
}

function write(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    return;
  }
}

function say(text) {
  const region = document.getElementById("say");
  if (!region || !text) return;
  region.textContent = "";
  setTimeout(() => (region.textContent = text), 50); // a repeated sentence is spoken again
}

function words(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// ---------- what an item says ----------

function part(item, name) {
  return form.elements.namedItem(`${name}-${item.dataset.item}`);
}

function labelsOf(item) {
  return [...item.querySelectorAll("input[type=radio]")];
}

function chosen(item) {
  return labelsOf(item).find((radio) => radio.checked) ?? null;
}

function isFixed(item) {
  return "fixed" in item.dataset;
}

function isDone(item) {
  return isFixed(item) || Boolean(chosen(item)) || Boolean(part(item, "skip").value.trim());
}

function snapshot(item) {
  return {
    label: chosen(item)?.value ?? "",
    skip: part(item, "skip").value,
    flagged: part(item, "flagged").checked,
    flag: part(item, "flag").value,
    seconds: part(item, "seconds").value,
  };
}

function restoreItem(item, saved) {
  for (const radio of labelsOf(item)) radio.checked = radio.value === saved.label;
  part(item, "skip").value = saved.skip ?? "";
  part(item, "flagged").checked = Boolean(saved.flagged);
  part(item, "flag").value = saved.flag ?? "";
  part(item, "seconds").value = saved.seconds ?? "";
}

function keep() {
  const answers = {};
  for (const item of items()) {
    if (!isFixed(item)) answers[item.dataset.item] = { ...snapshot(item), number: saving.numberOf(item.dataset.item) };
  }
  write(STORE + form.dataset.token, JSON.stringify({ current: state.current, answers }));
}

function bringBack() {
  let saved = null;
  try {
    saved = JSON.parse(read(STORE + form.dataset.token) ?? "null");
  } catch {
    return;
  }
  for (const item of items()) {
    const mine = saved?.answers[item.dataset.item];
    // What this browser has and the server has not, because the connection was lost, is saved now.
    if (isFixed(item) || !mine || (mine.number ?? 1) <= saving.numberOf(item.dataset.item)) continue;
    restoreItem(item, mine);
    saving.changed(item.dataset.item);
  }
  if (items().some((item) => !isFixed(item) && isDone(item))) say(form.dataset.restored);
}

// ---------- the item in focus ----------

function isOneByOne() {
  return !form.classList.contains("all");
}

/** Count the time that an item was in sight, and begin to count the next. */
function clock(item) {
  const field = part(item, "seconds");
  const now = performance.now();
  if (field && !document.hidden) field.value = (Number(field.value || 0) + (now - state.shownAt) / 1000).toFixed(2);
  state.shownAt = now;
}

function median(values) {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  return sorted.length ? sorted[Math.floor(sorted.length / 2)] : null;
}

function refresh() {
  const all = items();
  const total = all.length;
  const done = all.filter(isDone).length;
  all.forEach((item, index) => {
    item.classList.toggle("current", index === state.current);
    item.classList.toggle("done", isDone(item));
  });
  document.querySelector("[data-place]:not(form)").textContent = words(form.dataset.place, { n: state.current + 1, total });
  document.querySelector("[data-done]").value = done;
  const own = median(all.filter((item) => !isFixed(item) && isDone(item)).map((item) => Number(part(item, "seconds").value)));
  if (own !== null) document.querySelector("[data-median]").textContent = number(own, 0, 1);
  const go = form.querySelector("[data-judge=go]");
  go.textContent = done === total || !isOneByOne() ? go.dataset.hand : go.dataset.next;
  form.querySelector("[data-judge=back]").hidden = !isOneByOne() || state.current === 0;
  form.querySelector("[data-judge=undo]").hidden = state.undo.length === 0;
}

function show(index, { focus = true } = {}) {
  const all = items();
  const before = all[state.current];
  if (before && !isFixed(before)) clock(before);
  state.current = Math.max(0, Math.min(index, all.length - 1));
  refresh();
  keep();
  if (!focus) return;
  const heading = all[state.current].querySelector(".judge-number");
  heading.focus({ preventScroll: true });
  if (!isOneByOne()) all[state.current].scrollIntoView({ block: "center" });
  else if (form.getBoundingClientRect().top < 0) form.scrollIntoView({ block: "start" });
}

function nextOpen() {
  const all = items();
  const order = [...all.slice(state.current + 1), ...all.slice(0, state.current + 1)];
  return all.indexOf(order.find((item) => !isDone(item)));
}

/** Go on to the next item without an answer; where there is none, hand in. */
function goOn() {
  const item = items()[state.current];
  if (!isDone(item)) {
    say(form.dataset.first);
    item.querySelector(".judge-labels")?.classList.add("wanted");
    return;
  }
  const next = nextOpen();
  if (next < 0) handIn();
  else show(next);
}

function remember(item, before) {
  state.undo.push([item.dataset.item, before]);
  saving.changed(item.dataset.item);
  const label = chosen(item);
  item.querySelector(".judge-labels")?.classList.remove("wanted");
  refresh();
  keep();
  const title = label?.closest("label").querySelector("b").textContent;
  const last = items().every(isDone);
  say([title && words(form.dataset.chosen, { label: title }), last && form.dataset.ready].filter(Boolean).join(" "));
}

function choose(item, radio) {
  if (isFixed(item) || !radio) return;
  const before = snapshot(item);
  clock(item);
  radio.checked = true;
  part(item, "skip").value = "";
  item.dataset.was = JSON.stringify(snapshot(item));
  remember(item, before);
  if (read(QUICK) === "1" && nextOpen() >= 0) show(nextOpen());
}

function undo() {
  const last = state.undo.pop();
  if (!last) {
    say(form.dataset.nothing);
    return;
  }
  const item = items().find((one) => one.dataset.item === last[0]);
  restoreItem(item, last[1]);
  saving.changed(item.dataset.item);
  item.dataset.was = JSON.stringify(snapshot(item));
  show(items().indexOf(item));
  say(words(form.dataset.undone, { n: item.dataset.number }));
}

// ---------- handing in ----------

function showTrouble(node) {
  document.getElementById("trouble").replaceChildren(node);
  document.getElementById("trouble").scrollIntoView({ block: "center" });
}

function notice(text) {
  const box = document.createElement("div");
  box.className = "notice bad";
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  box.append(paragraph);
  return box;
}

async function handIn() {
  if (state.busy) return;
  state.busy = true;
  const item = items()[state.current];
  if (!isFixed(item)) clock(item);
  keep();
  try {
    const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { "hx-current-url": location.href } });
    if (new URL(answer.url).pathname !== new URL(form.action).pathname) {
      location.assign(answer.url); // signed out meanwhile: the answers wait here
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok) finish(page);
    else showTrouble(page.querySelector("main .notice.bad, main .error-page") ?? notice(form.dataset.lost));
  } catch {
    showTrouble(notice(form.dataset.lost));
  } finally {
    state.busy = false;
  }
}

function finish(page) {
  clearInterval(ticking);
  saving.stop();
  write(STORE + form.dataset.token, null);
  document.getElementById("judging").replaceWith(page.getElementById("judging"));
  document.title = page.title;
  welcomeEnd();
  window.scrollTo(0, 0);
}

/** After a page: forget what was kept, and let Enter ask for the next one. */
function welcomeEnd() {
  const ended = document.querySelector("[data-ended]:not(form)");
  if (!ended) return;
  write(STORE + ended.dataset.ended, null);
  (ended.querySelector("[data-focus-next]") ?? ended.querySelector("[data-focus]"))?.focus();
}

// ---------- the lease ----------

function showLeft() {
  const seconds = Math.max(0, Math.round(state.left));
  const shown = document.querySelector("[data-countdown]");
  shown.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  if (seconds === 0) document.getElementById("lapsed").hidden = false;
  if (seconds <= 60 && seconds > 0 && !state.warned) {
    state.warned = true;
    say(form.dataset.soon);
  }
}

async function beat() {
  const body = new FormData();
  body.set("csrf", form.elements.namedItem("csrf").value);
  try {
    const answer = await fetch(`${form.getAttribute("action")}/alive`, { method: "POST", body });
    if (answer.status === 409) {
      clearInterval(ticking);
      saving.stop();
      showTrouble(notice(form.dataset.ended));
      return;
    }
    if (!answer.ok || answer.redirected) return;
    const lease = await answer.json();
    state.left = lease.left;
    state.warned = false;
    document.getElementById("lapsed").hidden = !lease.lapsed;
    showLeft();
  } catch {
    return; // the countdown goes on, and says when it is over
  }
}

let ticking = 0;

/** Count down; begin the lease anew from time to time, as long as somebody did something within the last one. */
function watchLease() {
  const lease = Number(form.dataset.lease);
  const every = Math.max(5, Math.min(60, lease / BEATS_PER_LEASE));
  let since = 0;
  state.left = Number(form.dataset.left);
  beat();
  ticking = setInterval(() => {
    state.left -= 1;
    since += 1;
    showLeft();
    const isThere = !document.hidden && Date.now() - state.activeAt < lease * 1000;
    if (since >= every && isThere) {
      since = 0;
      beat();
    }
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    state.shownAt = performance.now();
    if (!document.hidden) beat();
  });
}

// ---------- guidelines, view ----------

function setGuide(open, { byPerson = false } = {}) {
  document.getElementById("guide").hidden = !open;
  document.querySelector(".judge-layout").classList.toggle("guided", open);
  document.querySelector(".judge-bar [data-judge=guide]").setAttribute("aria-expanded", String(open));
  if (!byPerson) return;
  write(GUIDE, open ? "open" : "closed");
  const target = open ? "#guide .icon-button" : ".judge-bar [data-judge=guide]";
  if (NARROW.matches) document.querySelector(target).focus();
}

function setView(all) {
  form.classList.toggle("all", all);
  document.querySelector("[data-judge=view]").setAttribute("aria-pressed", String(all));
  refresh();
}

// ---------- events ----------

function openNote(name) {
  const item = items()[state.current];
  if (isFixed(item)) return;
  if (name === "flag") part(item, "flagged").checked = true;
  part(item, name).focus();
}

const CONTROLS = {
  back: () => show(state.current - 1),
  undo,
  guide: () => setGuide(document.getElementById("guide").hidden, { byPerson: true }),
  view: () => {
    setView(isOneByOne());
    write(VIEW, isOneByOne() ? "one" : "all");
    show(state.current);
  },
};

const KEYS = {
  s: () => openNote("skip"),
  f: () => openNote("flag"),
  g: CONTROLS.guide,
  ArrowLeft: () => show(state.current + stepOf("ArrowLeft")),
  ArrowRight: () => show(state.current + stepOf("ArrowRight")),
};

function onKey(event) {
  state.activeAt = Date.now();
  if (!form.isConnected || document.querySelector("dialog[open]")) return;
  const field = event.target.closest("input[type=text], input[type=search], textarea, select");
  const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
  if (isUndo && !field?.value) {
    event.preventDefault();
    undo();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (field && form.contains(field)) onNoteKey(event);
  else if (!field) onFreeKey(event);
}

/** In a field of words, Enter takes them and goes on, and Escape leaves. */
function onNoteKey(event) {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.preventDefault();
  event.target.dispatchEvent(new Event("change", { bubbles: true }));
  const item = items()[state.current];
  if (event.key === "Enter" && isDone(item)) goOn();
  else item.querySelector(".judge-number").focus();
}

function onFreeKey(event) {
  const item = items()[state.current];
  const isRadio = event.target.matches("input[type=radio]");
  const isControl = event.target.closest("button, a, summary, input[type=checkbox]");
  if (/^[0-9]$/.test(event.key)) {
    const radio = item.querySelector(`input[data-key="${event.key}"]`);
    if (!radio) return;
    event.preventDefault();
    choose(item, radio);
  } else if (event.key === "Enter" && !isControl) {
    event.preventDefault();
    goOn();
  } else if (event.key === "?" && isRadio) {
    document.getElementById("keys").showModal(); // elsewhere the frame's own key does it
  } else if (KEYS[event.key] && !(isRadio && event.key.startsWith("Arrow"))) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

/** Whatever changed by mouse, touch or a screen reader is an answer that can be undone, too. */
function onChange(event) {
  const item = event.target.closest(".judge-item");
  if (!item || isFixed(item)) return;
  const before = JSON.parse(item.dataset.was);
  if (event.target.type === "radio") part(item, "skip").value = "";
  if (event.target.name?.startsWith("skip-") && event.target.value.trim()) {
    for (const radio of labelsOf(item)) radio.checked = false;
    say(form.dataset.skipped);
  }
  const after = snapshot(item);
  if (JSON.stringify({ ...before, seconds: "" }) === JSON.stringify({ ...after, seconds: "" })) return;
  clock(item);
  item.dataset.was = JSON.stringify(snapshot(item));
  remember(item, before);
}

function onFocus(event) {
  const item = event.target.closest?.(".judge-item");
  if (!item || isOneByOne()) return;
  const index = items().indexOf(item);
  if (index !== state.current) show(index, { focus: false });
}

function onClick(event) {
  state.activeAt = Date.now();
  const name = event.target.closest("[data-judge]")?.dataset.judge;
  CONTROLS[name]?.();
}

function onSubmit(event) {
  event.preventDefault();
  if (event.submitter?.dataset.judge === "stop" || !isOneByOne()) {
    const open = items().findIndex((item) => !isDone(item));
    if (event.submitter?.dataset.judge === "stop" || open < 0) handIn();
    else {
      show(open);
      say(form.dataset.first);
    }
  } else goOn();
}

function start() {
  bringBack();
  for (const item of items()) if (!isFixed(item)) item.dataset.was = JSON.stringify(snapshot(item));
  const quick = form.querySelector("[data-judge=quick]");
  quick.closest("[data-script]").hidden = false;
  quick.checked = read(QUICK) === "1";
  quick.addEventListener("change", () => write(QUICK, quick.checked ? "1" : "0"));
  setGuide(read(GUIDE) === "open" ? !NARROW.matches : read(GUIDE) === null && !NARROW.matches);
  setView(read(VIEW) === "all");
  form.dataset.live = "true";
  const first = items().findIndex((item) => !isDone(item));
  show(first < 0 ? items().length - 1 : first);
  state.shownAt = performance.now();
  document.addEventListener("keydown", onKey);
  document.addEventListener("pointerdown", () => (state.activeAt = Date.now()));
  form.addEventListener("change", onChange);
  form.addEventListener("focusin", onFocus);
  form.addEventListener("submit", onSubmit);
  document.getElementById("judging").addEventListener("click", onClick);
  watchLease();
}

if (form) start();
else welcomeEnd();
