// The little that a page cannot do by itself: look anew, ask before acting, and keep the theme.
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

// --- Taking news over without losing what somebody is typing, has focused, or has opened ----------------

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
  for (const child of old.children) {
    const key = keyOf(child);
    if (key) keyed.set(key, child);
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

// --- Looking anew ---------------------------------------------------------------------------------------

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
    if (path !== body.dataset.live) return; // Something else was chosen meanwhile.
    for (const [name, html] of Object.entries(parts)) {
      if (shown[name] !== html) morphChildren(document.getElementById(name), parsed(html));
    }
    shown = parts;
    seenAt = Date.now();
    body.classList.remove("away");
  } catch {
    tellAway();
  } finally {
    looking = false;
    if (path !== body.dataset.live) look();
  }
}

// Forms that narrow a list down: the address follows what is chosen, and the page stays where it is.
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
    `The console does not answer. What you see is ${seconds} s old. ` +
    "It is tried again by itself. If it was started anew, you have to log in again.";
  shown.banner = null;
  document.getElementById("banner").replaceChildren(words);
}

function toLogin() {
  location.href = "/login?next=" + encodeURIComponent(location.pathname + location.search);
}

function keepLooking() {
  const every = Number(body.dataset.liveS || 0);
  // A page that does not move by itself still has the switches and the banner to show.
  setInterval(() => {
    // One that nobody sees asks now and then, so that its session goes on.
    if (!document.hidden || Date.now() - askedAt > 60000) look();
  }, 1000 * (every || 5));
  // A console that hangs says nothing at all: the page's age is told without it.
  setInterval(() => document.hidden || tellAway(), 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) look();
  });
}

// --- Dialogs and what they do ---------------------------------------------------------------------------

async function ask(path, button) {
  const mine = ++turn;
  button.setAttribute("aria-busy", "true");
  const answer = await sent(path, { signal: AbortSignal.timeout(PATIENCE_MS) });
  button.removeAttribute("aria-busy");
  // Something else was asked meanwhile, or is open: an answer that comes late must not take its place.
  if (!answer || mine !== turn || dialog.open) return;
  if (!answer.contents) return toast(answer.refused, "bad");
  const form = dialog.querySelector("form");
  form.action = answer.action;
  form.querySelector(".contents").replaceChildren(...parsed(answer.contents).childNodes);
  dialog.showModal();
  preview(form, 0);
  const fields = ["input:not([type=hidden])", "select", "textarea"].map((each) => `.contents ${each}`).join(", ");
  // Enter by mistake must not do what cannot be undone.
  const harmful = form.querySelector("button.danger");
  const first = form.querySelector(harmful ? "[data-close]" : `${fields}, .contents [data-close]`);
  if (first) first.focus();
}

async function act(form) {
  if (acting) return;
  tellFields(form, {});
  const buttons = form.querySelectorAll("button");
  buttons.forEach((each) => (each.disabled = true));
  acting = true; // Until it is answered the dialog stays: its answer may be something that is shown once.
  const answer = await sent(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  acting = false;
  buttons.forEach((each) => (each.disabled = false));
  if (!answer) return;
  if (answer.refused) {
    tellFields(form, answer.fields || {});
    return refuse(form, answer.refused);
  }
  if (answer.ask_again) {
    form.querySelector(".contents").replaceChildren(...parsed(answer.ask_again).childNodes);
    form.querySelector(".contents [data-close]").focus();
    return;
  }
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

// What was revealed once must not stay behind a closed dialog, not even until the browser tells that it is closed.
function shut() {
  dialog.close();
  forget();
}

function forget() {
  if (!dialog.open) dialog.querySelector(".contents").replaceChildren();
}

function refuse(form, words) {
  const place = form.querySelector(".refused[role=alert]");
  if (!place) return toast(words, "bad");
  place.textContent = words;
  place.hidden = false;
}

// What is wrong stands beside the field that it is about; the first of them has the focus.
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

// What would come of what is typed so far. Where it must be seen before it is confirmed, it cannot be till then.
async function preview(form, pauseMs) {
  const place = form.querySelector("[data-preview]");
  if (!place) return;
  const mine = ++turn; // Whatever is on its way is about something else than what is typed now.
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
          ? "The console does not answer. Look whether it was done before you repeat it."
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
  setTimeout(() => told.remove(), kind === "bad" ? 12000 : 5000 + 60 * words.length);
}

// --- Texts to take along --------------------------------------------------------------------------------

async function copy(button) {
  const text = document.getElementById(button.dataset.copy);
  const told = button.parentElement.querySelector(".copied");
  getSelection().selectAllChildren(text);
  try {
    await navigator.clipboard.writeText(text.textContent);
    told.textContent = "Copied.";
  } catch {
    // Without TLS or the permission there is no clipboard for a page; the old way may still be allowed.
    told.textContent = document.execCommand("copy") ? "Copied." : "It is selected: press Ctrl+C.";
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

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.dialog) ask(button.dataset.dialog, button);
  else if ("themeButton" in button.dataset) turnTheme();
  else if ("close" in button.dataset) shut();
  else if ("copy" in button.dataset) copy(button);
});

document.addEventListener("submit", (event) => {
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
  dialog.addEventListener("input", () => preview(dialog.querySelector("form"), 200));
  // What is shown once, or about to be, is not closed by the escape key, pressed by mistake. Both events: a browser
  // asks about the second of two such keys only here.
  for (const name of ["cancel", "keydown"]) {
    dialog.addEventListener(name, (event) => {
      const escape = name === "cancel" || event.key === "Escape";
      if (escape && (acting || dialog.querySelector("[data-stay]"))) event.preventDefault();
    });
  }
  dialog.addEventListener("close", forget);
  keepLooking();
}
