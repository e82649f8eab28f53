// The public rate page: asks for the prices every two seconds, and says so when it does not get them.
"use strict";

const EVERY_MS = 2000;
const LOST_AFTER_MS = 6000;
const STATES = {
  closed: "Market closed",
  halted: "Trading halted",
  old: "No current price",
  unavailable: "Not available now",
};
// The states in which the age of the rates says something.
const TIMED = new Set(["live", "closed", "old"]);
const place = document.getElementById("rates");
const notice = document.getElementById("notice");
const clock = document.getElementById("clock");
let shown = null;
let aheadMs = 0;
let heardAt = performance.now();

// Indian grouping by text alone, so that no digit is lost: 1234567.50 is 12,34,567.50.
function grouped(plain) {
  const [whole, part] = plain.split(".");
  const head = whole.slice(0, -3).replace(/\B(?=(\d\d)+$)/g, ",");
  return (head ? head + "," : "") + whole.slice(-3) + (part ? "." + part : "");
}

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function nowMs() {
  return Date.now() + aheadMs;
}

function timeText(ms, options) {
  return new Intl.DateTimeFormat("en-IN", { timeZone: shown.zone, hourCycle: "h23", ...options }).format(ms);
}

function age(ms) {
  const seconds = Math.max(0, Math.floor((nowMs() - ms) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return timeText(ms, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

function price(side, label, text) {
  const number = element("b", "", text === null ? "–" : grouped(text));
  return element("div", `price ${side}`, element("small", "", label), number);
}

function row(rate) {
  const live = rate.state === "live";
  const about = element("small", "", `per ${rate.per}`);
  const name = element("div", "", element("div", "", element("h2", "", rate.code), about));
  const state = element("small", live ? "age" : "age state");
  state.dataset.state = rate.state;
  if (rate.at_ms !== null) state.dataset.at = rate.at_ms;
  name.append(state);
  return element(
    "section",
    live ? "rate" : "rate grey",
    name,
    price("buy", "You buy at", rate.buy),
    price("sell", "You sell at", rate.sell),
  );
}

function draw() {
  document.title = shown.title;
  document.querySelector("h1").textContent = shown.title;
  place.replaceChildren(...shown.rows.map(row));
  if (shown.rows.length === 0) place.append(element("p", "note", "There are no rates at the moment."));
  count();
}

// Ages and the clock go on between two answers; when answers stay away, every price turns grey.
function count() {
  const lost = performance.now() - heardAt > LOST_AFTER_MS;
  document.body.classList.toggle("lost", lost);
  const words = lost ? "No connection: these prices may be old." : "";
  if (notice.textContent !== words) notice.textContent = words;
  if (shown === null) return;
  clock.textContent = timeText(nowMs(), {
    weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit",
    timeZoneName: "short",
  });
  for (const each of place.querySelectorAll(".age")) {
    const word = STATES[each.dataset.state];
    const when = each.dataset.at && TIMED.has(each.dataset.state) ? age(Number(each.dataset.at)) : "";
    each.textContent = [word, when].filter(Boolean).join(", ");
  }
}

async function ask() {
  if (document.hidden) return;
  try {
    const answer = await fetch("/rates/prices.json", { credentials: "omit", signal: AbortSignal.timeout(5000) });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = await answer.json();
    heardAt = performance.now();
    const changed = JSON.stringify({ ...found, now_ms: 0 }) !== JSON.stringify({ ...shown, now_ms: 0 });
    if (shown === null || found.now_ms !== shown.now_ms) aheadMs = found.now_ms - Date.now();
    shown = found;
    if (changed) draw();
  } catch {
    // `count` tells the viewer when this goes on.
  }
}

async function run() {
  for (;;) {
    await ask();
    await new Promise((done) => setTimeout(done, EVERY_MS));
  }
}

setInterval(count, 1000);
run();
