// The steppers of the rate board. A press is sent at once, with the margin that was seen; presses while one is under
// way are joined. Shift makes a step five times as large.
"use strict";

(() => {
  const STALE_MS = 3000; // For so long, the page may still show a margin that this page has replaced.
  const waiting = []; // Presses that were not sent yet, in paise, by cell.
  const stepped = new Map(); // By cell: the margin after our last step, those that it replaced, and when.
  let working = false;

  function press(button, times) {
    const cell = button.dataset.step;
    const by = Number(button.dataset.by) * times;
    const last = waiting.at(-1);
    if (last && last.cell === cell) last.by += by;
    else waiting.push({ cell, by, seen: Number(button.dataset.seen) });
    if (!working) work();
  }

  async function work() {
    working = true;
    while (waiting.length) {
      const step = waiting.shift();
      if (step.by !== 0 && !(await send(step))) waiting.length = 0;
    }
    working = false;
  }

  async function send(step) {
    const form = dialog.querySelector("form");
    const seen = currentMargin(step.cell, step.seen);
    const path = `${step.cell}&by=${rupees(step.by)}&seen=${rupees(seen)}`;
    const csrf = new URLSearchParams({ csrf: form.elements.csrf.value });
    const answer = await sent(path, { method: "POST", body: csrf });
    if (!answer) return false;
    if (answer.ask_again) {
      form.action = path;
      askAgain(form, answer.ask_again);
      return false;
    }
    if (!answer.refused) remember(step.cell, seen, seen + step.by);
    else toast(answer.refused, "bad");
    shown.main = null;
    look();
    return !answer.refused;
  }

  function isRecent(last) {
    return last !== undefined && Date.now() - last.at < STALE_MS;
  }

  // Of two presses in a row, the second is about the margin that the first has made.
  function currentMargin(cell, seen) {
    const last = stepped.get(cell);
    return isRecent(last) && last.replaced.has(seen) ? last.margin : seen;
  }

  function remember(cell, was, margin) {
    const last = stepped.get(cell);
    const replaced = isRecent(last) ? last.replaced : new Set();
    stepped.set(cell, { margin, replaced: replaced.add(was), at: Date.now() });
  }

  function rupees(paise) {
    const whole = Math.abs(paise);
    return `${paise < 0 ? "-" : ""}${Math.trunc(whole / 100)}.${String(whole % 100).padStart(2, "0")}`;
  }

  // While the console does not answer, the figures are old: nothing is stepped by them.
  function lock() {
    const away = body.classList.contains("away");
    for (const each of document.querySelectorAll(away ? "[data-step]" : "[data-step][data-locked]")) {
      each.toggleAttribute("data-locked", away);
      if (away) each.setAttribute("aria-disabled", "true");
      else each.removeAttribute("aria-disabled");
    }
  }

  new MutationObserver(lock).observe(body, { attributes: true, attributeFilter: ["class"] });
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-act]")) stepped.clear(); // It may take a step back.
    const button = event.target.closest("[data-step]");
    if (button && button.getAttribute("aria-disabled") !== "true") press(button, event.shiftKey ? 5 : 1);
  });
})();
