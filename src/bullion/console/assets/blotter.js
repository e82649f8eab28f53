// Lists of orders: acting in a row, choosing several, opening a row, new rows, and views saved in this browser.
"use strict";

const VIEWS = "bullion-views";
const SCROLLED_PX = 40;
const inFlight = new Set(); // Orders whose confirmation is on its way: a second press sends nothing.
let newRows = 0;

// --- Acting in a row ------------------------------------------------------------------------------------

async function actInRow(button) {
  const row = button.closest("[data-row]");
  const key = row.dataset.key;
  if (inFlight.has(key)) return;
  inFlight.add(key);
  button.setAttribute("aria-busy", "true");
  const csrf = dialog.querySelector("[name=csrf]").value;
  const values = new URLSearchParams({ csrf, left: button.dataset.left });
  const fields = [...row.querySelectorAll("input.cover")];
  for (const field of fields) values.set(field.name, field.value);
  const answer = await sent(button.dataset.rowAct, { method: "POST", body: values });
  inFlight.delete(key);
  button.removeAttribute("aria-busy");
  if (!answer) return;
  for (const field of fields) {
    field.toggleAttribute("aria-invalid", Boolean(answer.fields?.[field.name]));
  }
  if (answer.refused) {
    const about = Object.values(answer.fields ?? {}).join(" ");
    return toast(`${row.dataset.row}: ${about || answer.refused}`, "bad");
  }
  toast(answer.done, "good");
  look();
}

// --- Choosing several -----------------------------------------------------------------------------------

const chosenRows = () => [...document.querySelectorAll("[data-choose]:checked")];

function tellChosen() {
  const bar = document.getElementById("batch");
  if (!bar) return;
  const chosen = chosenRows();
  const ids = chosen.map((each) => each.dataset.choose);
  bar.hidden = ids.length === 0;
  const words = `${ids.length} chosen`;
  const told = bar.querySelector(".chosen");
  if (told.textContent !== words) told.textContent = words;
  const about = new URLSearchParams({ ids: ids.join(",") });
  for (const box of chosen) {
    for (const field of box.closest("[data-row]").querySelectorAll("input.cover")) {
      if (field.value.trim()) about.set(`${field.name} ${box.dataset.choose}`, field.value);
    }
  }
  for (const button of bar.querySelectorAll("[data-batch]")) {
    if (ids.length) button.dataset.dialog = `${button.dataset.batch}?${about}`;
    else delete button.dataset.dialog;
    button.querySelector("span").textContent = `${button.dataset.verb} ${ids.length} …`;
  }
}

function clearChosen() {
  for (const each of chosenRows()) each.checked = false;
  tellChosen();
}

// --- Opening a row, and turning the list ----------------------------------------------------------------

function openRow(event) {
  const row = event.target.closest("[data-rows] > [data-row]");
  if (!row || event.target.closest("a, button, input, label, summary") || String(getSelection())) return;
  const link = row.querySelector("a.order");
  if (!link) return;
  if (event.ctrlKey || event.metaKey || event.button === 1) open(link.href, "_blank", "noopener");
  else location.href = link.href;
}

function turnList(link) {
  history.pushState(null, "", link.href);
  body.dataset.live = `/live${location.pathname}${location.search}`;
  look();
}

// --- New rows -------------------------------------------------------------------------------------------

const scrolled = () => scrollY > SCROLLED_PX;

// While somebody has scrolled down, new rows wait, and rows that left the page stay.
function holdNewRows(fresh) {
  const old = document.querySelector("[data-newest-first]");
  const next = fresh.querySelector("[data-newest-first]");
  newRows = 0;
  if (!old || !next || !scrolled()) return;
  const known = new Set([...old.children].map((row) => row.dataset.key));
  if (![...next.children].some((row) => known.has(row.dataset.key))) return; // Another list.
  for (const row of [...next.children]) {
    if (known.has(row.dataset.key)) break;
    row.remove();
    newRows += 1;
  }
  if (newRows === 0) return;
  const kept = new Set([...next.children].map((row) => row.dataset.key));
  let last = old.lastElementChild;
  while (last && !kept.has(last.dataset.key)) last = last.previousElementSibling;
  for (let row = last?.nextElementSibling; row; row = row.nextElementSibling) next.append(row.cloneNode(true));
  const button = fresh.querySelector("#new-rows");
  button.textContent = `${newRows} new ↑`;
  button.hidden = false;
}

function showNewRows() {
  scrollTo({ top: 0 });
  shown.main = null;
  look();
}

// --- Views saved in this browser ------------------------------------------------------------------------

function savedViews() {
  try {
    const found = JSON.parse(localStorage.getItem(VIEWS) ?? "[]");
    return Array.isArray(found) ? found.filter((each) => each?.name && typeof each.query === "string") : [];
  } catch {
    return [];
  }
}

function keepViews(views) {
  localStorage.setItem(VIEWS, JSON.stringify(views));
  showViews();
}

function showViews() {
  const place = document.getElementById("own-views");
  if (!place) return;
  place.replaceChildren(
    ...savedViews().flatMap(({ name, query }) => {
      const link = document.createElement("a");
      const drop = document.createElement("button");
      link.href = `/orders${query}`;
      link.textContent = name;
      drop.type = "button";
      drop.className = "small quiet";
      drop.textContent = "×";
      drop.setAttribute("aria-label", `Remove the view ${name}`);
      drop.addEventListener("click", () => keepViews(savedViews().filter((each) => each.name !== name)));
      return [link, drop];
    }),
  );
}

function saveView() {
  const field = document.getElementById("view-name");
  const name = field.value.trim();
  if (!name) return field.focus();
  const query = new URLSearchParams(location.search);
  query.delete("page");
  keepViews([...savedViews().filter((each) => each.name !== name), { name, query: query.size ? `?${query}` : "" }]);
  field.value = "";
  field.closest("details").open = false;
}

// --- What waits: in the title, and as a sound -----------------------------------------------------------

const SOUND = "bullion-sound";
const baseTitle = document.title;
let waited = null;
let audio = null;

const soundOn = () => localStorage.getItem(SOUND) === "on";

// Browsers play a sound only after somebody has pressed something in the page.
function wakeSound() {
  if (!soundOn()) return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}

function beep() {
  if (!audio || audio.state !== "running") return;
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = 880;
  volume.gain.setValueAtTime(0.15, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.35);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.35);
}

function tellWaiting() {
  const waiting = Number(document.querySelector("#top > header")?.dataset.waiting ?? 0);
  const title = waiting ? `(${waiting}) ${baseTitle}` : baseTitle;
  if (document.title !== title) document.title = title;
  if (waited !== null && waiting > waited && soundOn()) beep();
  waited = waiting;
}

function tellSound() {
  const button = document.querySelector("[data-sound-button]");
  if (!button) return;
  button.setAttribute("aria-pressed", String(soundOn()));
  button.textContent = soundOn() ? "Sound on" : "Sound off";
}

function turnSound() {
  localStorage.setItem(SOUND, soundOn() ? "off" : "on");
  wakeSound();
  tellSound();
}

// --- Events ---------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  wakeSound();
  const button = event.target.closest("button");
  const link = event.target.closest("a[data-turn]");
  if (button?.dataset.rowAct) actInRow(button);
  else if (button && "clear" in button.dataset) clearChosen();
  else if (button && "showNew" in button.dataset) showNewRows();
  else if (button && "saveView" in button.dataset) saveView();
  else if (button && "soundButton" in button.dataset) turnSound();
  else if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    turnList(link);
  } else openRow(event);
});
document.addEventListener("auxclick", openRow);
document.addEventListener("keydown", (event) => {
  wakeSound();
  const field = event.target.closest("input.cover");
  if (!field || event.key !== "Enter") return;
  event.preventDefault();
  field.closest("[data-row]").querySelector("[data-row-act]")?.click();
});
document.addEventListener("input", (event) => {
  if (event.target.matches("[data-choose], input.cover")) tellChosen();
});
document.addEventListener("refresh", (event) => {
  if (event.detail.name === "main") holdNewRows(event.detail.fresh);
});
document.addEventListener("refreshed", () => {
  tellChosen();
  tellWaiting();
  if (newRows && !scrolled()) showNewRows();
});
addEventListener("scroll", () => {
  if (newRows && !scrolled()) showNewRows();
}, { passive: true });

showViews();
tellChosen();
tellWaiting();
tellSound();
