// What a page cannot do without a script: refresh itself, open dialogs, and keep the theme.
"use strict";

const PATIENCE_MS = 6000;
const body = document.body;
const dialog = document.getElementById("dialog");
let seenAt = Date.now();
let shown = {};
let looking = false;
let askedAt = 0;
let turn = 0;
let acting = false;
let unansweredSince = null;
let typed = []; // The dialog behind a question about it.
let opened = null; // The path of the dialog that is open.
let askedAgain = false; // It has asked a second time: the first form is gone, and its draft is complete.

// --- Refreshing the page without losing what somebody types, has focused or has opened ------------------

function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
    old.replaceWith(fresh);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.hasAttribute("data-keep")) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  if (["INPUT", "SELECT", "TEXTAREA"].includes(old.nodeName)) return;
  morphChildren(old, fresh);
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.id || node.getAttribute("data-key") : null;
}

function morphChildren(old, fresh) {
  const keyed = new Map();
  const stays = new Set([...fresh.childNodes].map(keyOf));
  for (const child of [...old.children]) {
    const key = keyOf(child);
    // What is gone is removed first: a row that moved up into its place would lose the focus.
    if (key && !stays.has(key)) child.remove();
    else if (key) keyed.set(key, child);
  }
  let place = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    const match = keyed.get(keyOf(child));
    if (match) {
      if (match !== place) old.insertBefore(match, place);
      else place = place.nextSibling;
      morph(match, child);
    } else if (place && !keyOf(place) && !keyOf(child) && place.nodeName === child.nodeName) {
      const next = place.nextSibling;
      morph(place, child);
      place = next;
    } else {
      old.insertBefore(child, place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

// --- Refreshing -----------------------------------------------------------------------------------------

async function look() {
  if (looking || !body.dataset.live) return;
  looking = true;
  askedAt = Date.now();
  unansweredSince ??= askedAt;
  const path = body.dataset.live;
  try {
    const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    if (answer.status === 401) return toLogin();
    if (!answer.ok) throw new Error(answer.status);
    const { parts } = await answer.json();
    unansweredSince = null;
    if (path !== body.dataset.live) return; // Other filters were chosen meanwhile.
    for (const [name, html] of Object.entries(parts)) {
      if (shown[name] === html) continue;
      const fresh = parsed(html);
      document.dispatchEvent(new CustomEvent("refresh", { detail: { name, fresh } }));
      morphChildren(document.getElementById(name), fresh);
    }
    document.dispatchEvent(new Event("refreshed"));
    shown = parts;
    tellMenu();
    seenAt = Date.now();
    body.classList.remove("away");
  } catch {
    tellAway();
  } finally {
    looking = false;
    if (path !== body.dataset.live) look();
  }
}

// Forms of filters: the address follows what is chosen, without loading the page again.
function narrow(form) {
  const chosen = [...new FormData(form)].filter(([, value]) => value !== "");
  const path = form.getAttribute("action") + (chosen.length ? `?${new URLSearchParams(chosen)}` : "");
  history.pushState(null, "", path);
  body.dataset.live = `/live${path}`;
  look();
}

function tellAway() {
  const seconds = Math.round((Date.now() - seenAt) / 1000);
  if (unansweredSince === null || Date.now() - unansweredSince < 3000) return;
  body.classList.add("away");
  const words = document.createElement("p");
  words.className = "banner bad";
  words.setAttribute("role", "alert");
  words.textContent =
    `The console does not answer. This page is ${seconds} s old. ` +
    "The page tries again by itself, and keeps what you have typed.";
  shown.banner = null;
  document.getElementById("banner").replaceChildren(words);
}

function toLogin() {
  location.href = "/login?next=" + encodeURIComponent(location.pathname + location.search);
}

function keepLooking() {
  const every = Number(body.dataset.liveS || 0);
  // A page without live data still refreshes the health strip and the switches: trouble is seen within 5 s.
  setInterval(() => {
    // A hidden page refreshes once a minute, to keep its session; with the sound on, soon enough to be heard.
    const hiddenMs = localStorage.getItem("bullion-sound") === "on" ? 5000 : 60000;
    if (!document.hidden || Date.now() - askedAt > hiddenMs) look();
  }, 1000 * (every || 2));
  // Also while a request hangs.
  setInterval(() => document.hidden || tellAway(), 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) look();
  });
}

// --- Dialogs --------------------------------------------------------------------------------------------

async function ask(path, button) {
  const mine = ++turn;
  button.setAttribute("aria-busy", "true");
  const answer = await sent(path, { signal: AbortSignal.timeout(PATIENCE_MS) });
  button.removeAttribute("aria-busy");
  // A late answer must not replace a dialog that was opened meanwhile.
  if (!answer || mine !== turn || dialog.open) return;
  if (!answer.contents) return toast(answer.refused, "bad");
  const form = dialog.querySelector("form");
  form.action = answer.action;
  form.querySelector(".contents").replaceChildren(...parsed(answer.contents).childNodes);
  opened = path;
  askedAgain = false;
  drafts.opened(path);
  if (drafts.restore(form, path)) tellRestored(form);
  dialog.showModal();
  preview(form, 0);
  const fields = ["input:not([type=hidden])", "select", "textarea"].map((each) => `.contents ${each}`).join(", ");
  // So that Enter by mistake does nothing dangerous.
  const harmful = form.querySelector("button.danger");
  const first = form.querySelector(harmful ? "[data-close]" : `${fields}, .contents [data-close]`);
  if (first) first.focus();
}

function tellRestored(form) {
  const words = document.createElement("p");
  const discard = document.createElement("button");
  words.className = "restored";
  words.textContent = "What you typed before is back. ";
  discard.type = "button";
  discard.className = "small";
  discard.textContent = "Discard it";
  discard.dataset.discard = "";
  words.append(discard);
  form.querySelector(".contents .explanation").append(words);
}

function discard(form) {
  drafts.drop(opened);
  drafts.reset(form);
  form.querySelector(".restored").remove();
  preview(form, 0);
  form.querySelector(".contents [name]:not([type=hidden])")?.focus();
}

async function act(form) {
  if (acting) return;
  tellFields(form, {});
  const buttons = form.querySelectorAll("button");
  buttons.forEach((each) => (each.disabled = true));
  acting = true; // The dialog stays open until the answer, which may be a key that is shown once.
  const answer = await sent(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  acting = false;
  buttons.forEach((each) => (each.disabled = false));
  if (!answer) return;
  if (answer.refused) {
    tellFields(form, answer.fields || {});
    return refuse(form, answer.refused);
  }
  if (answer.ask_again) return askAgain(form, answer.ask_again);
  drafts.drop(opened);
  if (answer.reveal) {
    form.querySelector(".contents").replaceChildren(...parsed(answer.reveal).childNodes);
    if (!dialog.open) dialog.showModal();
    form.querySelector("[data-copy]")?.focus();
  } else {
    shut();
  }
  if (answer.go_to) {
    location.href = answer.go_to;
    return;
  }
  toast(answer.done, "good");
  look();
}

// Replaces a dialog by a question about it. `data-back` returns to what was typed.
function askAgain(form, question) {
  const contents = form.querySelector(".contents");
  askedAgain = true;
  if (!contents.querySelector("[data-back]")) typed = [...contents.childNodes];
  contents.replaceChildren(...parsed(question).childNodes);
  if (!dialog.open) dialog.showModal();
  contents.querySelector("[data-back], [data-close]").focus();
}

function goBack() {
  if (typed.length === 0) return shut();
  dialog.querySelector(".contents").replaceChildren(...typed);
  typed = [];
  askedAgain = false;
  dialog.querySelector(".contents input:not([type=hidden]), .contents button")?.focus();
}

// Does something at once, without a dialog before it.
function actAtOnce(button) {
  if (dialog.open || acting) return;
  const form = dialog.querySelector("form");
  form.querySelector(".contents").replaceChildren();
  form.action = button.dataset.act;
  act(form);
}

// A key that was shown once must not stay in a closed dialog, not even until the browser's close event.
function shut() {
  dialog.close();
  forget();
}

function forget() {
  if (dialog.open) return;
  typed = [];
  dialog.querySelector(".contents").replaceChildren();
  drafts.closed();
  if (opened && drafts.has(opened)) toast("What you typed is kept. Open the dialog again to go on.", "good");
  opened = null;
}

// By its button, which discards what was typed; but not the answer to a second question, such as "Is this right?".
function cancel() {
  if (opened && !askedAgain) drafts.drop(opened);
  shut();
}

function refuse(form, words) {
  const place = form.querySelector(".refused[role=alert]");
  if (!place) return toast(words, "bad");
  place.textContent = words;
  place.hidden = false;
}

// Errors stand beside their fields; the first field with one gets the focus.
function tellFields(form, troubles) {
  form.querySelectorAll(".wrong").forEach((each) => each.remove());
  form.querySelectorAll("[aria-invalid]").forEach((each) => each.removeAttribute("aria-invalid"));
  let first = null;
  for (const [name, words] of Object.entries(troubles)) {
    const field = form.querySelector(`.contents [name="${CSS.escape(name)}"]`);
    if (!field) continue;
    const told = document.createElement("small");
    told.className = "wrong";
    told.textContent = words;
    field.setAttribute("aria-invalid", "true");
    field.closest(".field, fieldset").append(told);
    first = first || field;
  }
  if (first) first.focus();
}

// The preview of what was typed. Where it is required, the dialog cannot be confirmed without it.
async function preview(form, pauseMs) {
  const place = form.querySelector("[data-preview]");
  if (!place) return;
  const mine = ++turn; // A preview on its way is about older input.
  const waits = "needed" in place.dataset ? form.querySelector("[type=submit]") : {};
  waits.disabled = true;
  await new Promise((done) => setTimeout(done, pauseMs));
  if (mine !== turn || !place.isConnected) return;
  const typed = new URLSearchParams(new FormData(form));
  const answer = await sent(place.dataset.preview, { method: "POST", body: typed });
  if (mine !== turn || !place.isConnected || !answer) return;
  if (!answer.contents) return refuse(form, answer.refused);
  place.replaceChildren(...parsed(answer.contents).childNodes);
  waits.disabled = place.querySelector("[data-not-yet]") !== null;
}

async function sent(path, options) {
  try {
    const answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(15000), ...options });
    if (answer.status === 401) {
      toLogin();
      return null;
    }
    return await answer.json();
  } catch {
    return {
      refused:
        options.method === "POST"
          ? "The console does not answer. Check whether the change was made before you repeat it."
          : "The console does not answer. Try again in a moment.",
    };
  }
}

function toast(words, kind) {
  const told = document.createElement("p");
  told.className = `toast ${kind}`;
  told.textContent = words;
  document.getElementById("toasts").append(told);
  // Long enough to be read.
  setTimeout(() => told.remove(), (kind === "bad" ? 6000 : 2500) + 50 * words.length);
}

// --- Copying --------------------------------------------------------------------------------------------

async function copy(button) {
  const text = document.getElementById(button.dataset.copy);
  const told = button.parentElement.querySelector(".copied");
  getSelection().selectAllChildren(text);
  try {
    await navigator.clipboard.writeText(text.textContent);
    told.textContent = "Copied.";
  } catch {
    // Without TLS or the permission a page has no clipboard; the old command may still work.
    told.textContent = document.execCommand("copy") ? "Copied." : "Selected: press Ctrl+C.";
  }
}

// --- Theme ----------------------------------------------------------------------------------------------

function turnTheme() {
  const root = document.documentElement;
  const dark =
    root.dataset.theme === "dark" ||
    (root.dataset.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `bullion_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
}

// --- The menus of the frame -----------------------------------------------------------------------------

// On a telephone the header opens over the page: with all pages, the switches, and the user's own menu.
function openMenu(open) {
  body.classList.toggle("menu", open);
  tellMenu();
}

function tellMenu() {
  const open = body.classList.contains("menu");
  document.querySelector("[data-menu]")?.setAttribute("aria-expanded", String(open));
}

function closeMenus(target) {
  for (const each of document.querySelectorAll("#top details[open]")) {
    if (!each.contains(target)) each.open = false;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || dialog?.open) return;
  closeMenus(null);
  openMenu(false);
});

document.addEventListener("click", (event) => {
  closeMenus(event.target);
  const button = event.target.closest("button");
  if (!button || button.getAttribute("aria-disabled") === "true") return;
  if ("menu" in button.dataset) return openMenu(!body.classList.contains("menu"));
  if (button.dataset.dialog) ask(button.dataset.dialog, button);
  else if ("themeButton" in button.dataset) turnTheme();
  else if ("close" in button.dataset) cancel();
  else if ("back" in button.dataset) goBack();
  else if (button.dataset.act) actAtOnce(button);
  else if ("discard" in button.dataset) discard(button.form);
  else if ("copy" in button.dataset) copy(button);
});

document.addEventListener("submit", (event) => {
  if (event.target.getAttribute("action") === "/logout") drafts.clearAll();
  if (!("narrow" in event.target.dataset)) return;
  event.preventDefault();
  narrow(event.target);
});

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form && "narrow" in form.dataset) narrow(form);
});

addEventListener("popstate", () => {
  if (body.dataset.live !== `/live${location.pathname}${location.search}`) location.reload();
});

if (dialog) {
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    act(event.target);
  });
  dialog.addEventListener("input", () => {
    const form = dialog.querySelector("form");
    if (opened && !askedAgain) drafts.save(form, opened);
    preview(form, 200);
  });
  // Escape does not close a key that is shown once. Both events: of two presses, browsers send only one the
  // cancel event.
  for (const name of ["cancel", "keydown"]) {
    dialog.addEventListener(name, (event) => {
      const escape = name === "cancel" || event.key === "Escape";
      if (escape && (acting || dialog.querySelector("[data-stay]"))) event.preventDefault();
    });
  }
  dialog.addEventListener("close", forget);
  keepLooking();
  const interrupted = drafts.interrupted();
  if (interrupted) ask(interrupted, dialog);
}
