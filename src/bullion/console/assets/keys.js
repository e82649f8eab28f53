// The keyboard of the desk. The marked row is the one that has the focus; a letter acts on it and on nothing else.
"use strict";

const KEYS = [
  ["↑ ↓", "mark the row before or after"],
  ["Space", "choose the marked row, for several at once"],
  ["Enter", "open the marked row"],
  ["C", "confirm the marked or the chosen orders"],
  ["R", "refuse the marked or the chosen orders"],
  ["U", "take back the last price change"],
  ["N", "new order"],
  ["/", "find"],
  ["Esc", "clear what is chosen, or go back"],
  ["?", "all keys"],
];
const LETTERS_OFF = "bullion-letters-off";
let lastIndex = -1; // Of the row that was marked last, for when it is gone.
let heldRow = null; // The key of the row that has the focus while the page is refreshed,
let heldList = null; // and the id of its list.

const lettersOff = () => localStorage.getItem(LETTERS_OFF) === "yes";
// Orders that wait come first: on the overview the first press of an arrow marks the oldest of them.
const allRows = () => [
  ...document.querySelectorAll(".queue[data-rows] > [data-row]"),
  ...document.querySelectorAll("[data-rows]:not(.queue) > [data-row]"),
];
const markedRow = () => document.activeElement?.closest?.("[data-rows] > [data-row]") ?? null;

function mark(row) {
  if (!row) return;
  lastIndex = allRows().indexOf(row);
  row.querySelector("a[href], button")?.focus();
  row.scrollIntoView({ block: "nearest" });
}

function moveMark(step) {
  const rows = allRows();
  if (rows.length === 0) return false;
  const marked = markedRow();
  const from = marked ? rows.indexOf(marked) : lastIndex < 0 ? -1 : lastIndex - (step > 0 ? 1 : 0);
  mark(rows[Math.min(rows.length - 1, Math.max(0, from + step))]);
  return true;
}

function actOnRows(letter) {
  const batch = document.getElementById("batch");
  const place = batch && !batch.hidden ? batch : markedRow();
  if (!place) return toast("Mark a row first, with the arrow keys.", "bad");
  const button = place.querySelector(`[data-letter="${letter}"]`);
  if (button) button.click();
  else toast(`${place.dataset.row}: nothing to ${letter === "c" ? "confirm" : "refuse"}.`, "bad");
}

function showKeys() {
  const box = document.createElement("dialog");
  box.className = "keys";
  box.setAttribute("aria-labelledby", "keys-title");
  const title = document.createElement("h2");
  title.id = "keys-title";
  title.textContent = "Keys";
  const list = document.createElement("dl");
  for (const [key, what] of KEYS) {
    const term = document.createElement("dt");
    const shownKey = document.createElement("kbd");
    const text = document.createElement("dd");
    shownKey.textContent = key;
    term.append(shownKey);
    text.textContent = what;
    list.append(term, text);
  }
  const label = document.createElement("label");
  const letters = document.createElement("input");
  letters.type = "checkbox";
  letters.checked = !lettersOff();
  letters.addEventListener("change", () => {
    if (letters.checked) localStorage.removeItem(LETTERS_OFF);
    else localStorage.setItem(LETTERS_OFF, "yes");
  });
  label.append(letters, " Single letters act, outside of fields");
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => box.close());
  box.append(title, list, label, close);
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}

function pressLetter(key) {
  if (key === "c" || key === "r") actOnRows(key);
  else if (key === "u") document.querySelector("#undo [data-act]")?.click();
  else if (key === "n") location.href = "/ticket";
  else return false;
  return true;
}

function goUp() {
  const clear = document.querySelector("#batch:not([hidden]) [data-clear]");
  if (clear) return clear.click();
  document.querySelector(".back a")?.click();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target;
  const inField = target.closest("input:not([type=checkbox]), select, textarea, [contenteditable]");
  const key = event.key;
  if (inField) {
    if (key === "Escape") target.blur();
    return;
  }
  let done = true;
  if (key === "ArrowDown" || key === "ArrowUp") done = moveMark(key === "ArrowDown" ? 1 : -1);
  else if (key === " " && markedRow() && !target.closest("button, input, summary")) {
    markedRow().querySelector("[data-choose]")?.click();
  } else if (key === "Escape") goUp();
  else if (key === "?") showKeys();
  else if (lettersOff()) done = false;
  else if (key === "/") document.getElementById("find")?.focus();
  else done = key.length === 1 && !event.repeat && pressLetter(key.toLowerCase());
  if (done) event.preventDefault();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-keys-button]")) showKeys();
});

// A refresh may take away the button that has the focus: then its row keeps the mark.
document.addEventListener("refresh", () => {
  const row = markedRow();
  if (row) [heldRow, heldList] = [row.dataset.key, row.closest("[id]:not([data-row])").id];
});
document.addEventListener("refreshed", () => {
  // In the same list: an order may be in two.
  const rows = heldRow ? document.querySelectorAll(`[data-rows] > [data-key="${CSS.escape(heldRow)}"]`) : [];
  const row = [...rows].find((each) => each.closest("[id]:not([data-row])").id === heldList);
  if (row && document.activeElement === document.body) row.querySelector("a[href], button")?.focus({ preventScroll: true });
  heldRow = null;
});
