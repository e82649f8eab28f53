// The steppers of the rate board. A press is sent at once, with the margin that was seen; presses while one is under
// way are joined. Shift makes a step five times as large.
"use strict";

(() => {
  const waiting = []; // Presses that were not sent yet, in paise, by cell.
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
    const path = `${step.cell}&by=${rupees(step.by)}&seen=${rupees(step.seen)}`;
    const csrf = new URLSearchParams({ csrf: form.elements.csrf.value });
    const answer = await sent(path, { method: "POST", body: csrf });
    if (!answer) return false;
    if (answer.ask_again) {
      form.action = path;
      askAgain(form, answer.ask_again);
      return false;
    }
    // What the page shows may be older than this answer: the next press must name the margin of now.
    if (!answer.refused) setSeen(step);
    else toast(answer.refused, "bad");
    shown.main = null;
    look();
    return !answer.refused;
  }

  function setSeen(step) {
    const now = step.seen + step.by;
    for (const each of document.querySelectorAll(`[data-step="${CSS.escape(step.cell)}"]`)) each.dataset.seen = now;
    for (const each of waiting) {
      if (each.cell === step.cell && each.seen === step.seen) each.seen = now;
    }
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
    const button = event.target.closest("[data-step]");
    if (button && button.getAttribute("aria-disabled") !== "true") press(button, event.shiftKey ? 5 : 1);
  });
})();
