// The order ticket: finds clients while one types, locks a price, and books the order once.
"use strict";

(() => {
  const ARMED_MS = 400; // Two quick presses of Enter lock, and do not book.
  const AGAIN_MS = 1500;
  const OLD = "These figures are old: the console does not answer.";
  const LOCK_FIRST = "Lock the price first.";
  const user = document.getElementById("dialog")?.dataset.user;
  const pendingKey = `ticket ${user}`;
  const byId = (id) => document.getElementById(id);
  const now = () => performance.now();
  let lock = null; // The price that is locked: the fields to send, what will be booked, and until when.
  let pending = null; // An order that was sent, and whose outcome is not known yet.
  let locking = false;
  let booked = false;
  let leaving = false;
  let searches = 0;
  let soon = null;
  let lastTyped = "";

  // --- What is typed ------------------------------------------------------------------------------------

  function typedFields() {
    return new URLSearchParams(new FormData(byId("ticket-form")));
  }

  // The address follows what is typed, and the page refreshes from it.
  function follow() {
    const chosen = [...typedFields()].filter(([, value]) => value !== "");
    const path = `/ticket?${new URLSearchParams(chosen)}`;
    if (body.dataset.live === `/live${path}`) return;
    history.replaceState(null, "", path);
    body.dataset.live = `/live${path}`;
    look();
  }

  function changed() {
    clearTimeout(soon);
    const typed = typedFields().toString();
    if (lock && lock.typed === typed) return;
    if (lock) unlock("The order was changed: lock its price again.");
    else if (typed !== lastTyped && !pending) {
      byId("locked").replaceChildren();
      tell("");
    }
    lastTyped = typed;
    follow();
  }

  // --- Clients ------------------------------------------------------------------------------------------

  const options = () => [...byId("clients").querySelectorAll("[data-login]")];
  const active = () => byId("clients").querySelector("[aria-selected=true]");

  async function findClients(text) {
    const mine = ++searches;
    const answer = await post(byId("ticket-form").dataset.clients, new URLSearchParams({ q: text }));
    if (mine !== searches || document.activeElement !== byId("client")) return;
    if (!answer?.json.contents) return;
    byId("clients").replaceChildren(...parsed(answer.json.contents).childNodes);
    byId("clients").hidden = false;
    byId("client").setAttribute("aria-expanded", "true");
    mark(options()[0]);
  }

  function mark(option) {
    options().forEach((each) => each.setAttribute("aria-selected", String(each === option)));
    if (option) byId("client").setAttribute("aria-activedescendant", option.id);
    else byId("client").removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }

  function closeClients() {
    searches++;
    clearTimeout(soon);
    byId("clients").hidden = true;
    byId("client").setAttribute("aria-expanded", "false");
    mark(null);
  }

  function choose(option) {
    byId("client").value = option.dataset.login;
    closeClients();
    changed();
  }

  function clientKey(event) {
    const open = !byId("clients").hidden;
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const all = options();
      const step = event.key === "ArrowDown" ? 1 : all.length - 1;
      mark(all[(all.indexOf(active()) + step) % all.length]);
      event.preventDefault();
    } else if (open && event.key === "Escape") {
      closeClients();
      event.stopPropagation();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (open && active()) choose(active());
      else changed();
      focusNext();
    } else if (event.key === "Tab" && open && active()) {
      choose(active());
    }
  }

  // The first field that still wants something.
  function focusNext() {
    const form = byId("ticket-form");
    const symbol = form.querySelector("[name=symbol]:checked, select[name=symbol]");
    const side = form.querySelector("[name=side]:checked") ? null : form.querySelector("[name=side]");
    const chosen = new URLSearchParams(location.search).has("symbol") && location.search.includes("side=");
    (chosen ? side || byId("weight") : symbol || side || byId("weight")).focus();
  }

  // --- Talking to the console -----------------------------------------------------------------------------

  async function post(path, fields) {
    const sentFields = new URLSearchParams(fields);
    sentFields.set("csrf", dialog.querySelector("[name=csrf]").value);
    try {
      const answer = await fetch(path, {
        method: "POST",
        body: sentFields,
        cache: "no-store",
        signal: AbortSignal.timeout(15000),
      });
      if (answer.status === 401) {
        leaving = true; // What is pending is asked for again after the log-in.
        toLogin();
        return null;
      }
      return { status: answer.status, json: await answer.json() };
    } catch {
      return null;
    }
  }

  function tell(words) {
    byId("told").textContent = words;
  }

  function show(html) {
    const place = byId("locked");
    place.replaceChildren(...parsed(html).childNodes);
    place.firstElementChild?.scrollIntoView({ block: "nearest" });
    return place.firstElementChild;
  }

  const isOld = () => body.classList.contains("away");

  // --- The lock -------------------------------------------------------------------------------------------

  async function lockPrice() {
    if (locking || pending || booked) return;
    if (isOld()) return tell(OLD);
    const fields = typedFields();
    if (["login", "symbol", "side", "quantity"].some((name) => !(fields.get(name) || "").trim())) {
      return tell(byId("why").textContent);
    }
    locking = true;
    byId("lock").setAttribute("aria-busy", "true");
    const askedAt = now(); // Not when the answer comes: the page must never show a lock for too long.
    const answer = await post(byId("ticket-form").dataset.lock, fields);
    locking = false;
    byId("lock").removeAttribute("aria-busy");
    if (fields.toString() !== typedFields().toString()) return; // It was changed meanwhile.
    if (!answer?.json.reveal) return unlock(answer?.json.refused || "No answer. Nothing was locked.");
    const shown = show(answer.json.reveal);
    if (!("locked" in shown.dataset)) return unlock("", true);
    const toSend = [...shown.querySelectorAll("input[type=hidden]")].map((each) => [each.name, each.value]);
    const lasts = Number(shown.dataset.lockMs);
    lock = {
      fields: toSend,
      what: shown.dataset.locked,
      typed: fields.toString(),
      lasts,
      endsAt: askedAt + lasts,
      since: now(),
    };
    body.classList.add("price-locked");
    tell("");
    showBook();
    run();
    byId("book").focus({ preventScroll: true });
  }

  function unlock(words, keepShown = false) {
    const focused = document.activeElement === byId("book");
    lock = null;
    body.classList.remove("price-locked");
    if (!keepShown) byId("locked").replaceChildren();
    showBook();
    tell(words);
    if (focused) byId("lock").focus();
  }

  function run() {
    if (!lock || pending) return;
    const left = lock.endsAt - now();
    if (left <= 0) return unlock("The lock ran out. Nothing was booked, and the price is live again.");
    const ring = byId("locked").querySelector(".ring");
    ring.querySelector(".left").setAttribute("stroke-dasharray", `${(100 * left) / lock.lasts} 100`);
    ring.querySelector("text").textContent = `${Math.ceil(left / 1000)} s`;
    setTimeout(run, 100);
  }

  function showBook() {
    const button = byId("book");
    const why = pending ? "" : isOld() ? OLD : lock ? "" : LOCK_FIRST;
    const sending = pending ? `Booking: ${pending.what} …` : "Book";
    button.querySelector("span").textContent = lock && !pending ? `Book: ${lock.what}` : sending;
    if (why || pending) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
    byId("why-book").textContent = why;
  }

  // --- Booking --------------------------------------------------------------------------------------------

  function book() {
    if (!lock || pending || booked) return tell(pending || booked ? "" : LOCK_FIRST);
    if (isOld()) return tell(OLD);
    if (now() - lock.since < ARMED_MS) return;
    if (now() >= lock.endsAt) return run();
    pending = { fields: lock.fields, what: lock.what, tries: 0 };
    send();
  }

  // Asks for the same order under the same key until there is an outcome. It is booked once at most.
  async function send() {
    pending.tries++;
    keep(JSON.stringify(pending));
    showBook();
    const answer = await post(byId("ticket-form").dataset.book, new URLSearchParams(pending.fields));
    const outcome = parsed(answer?.json.reveal || "").firstElementChild?.dataset.outcome;
    if (outcome === "booked") return finish(answer.json.reveal, true);
    if (outcome === "refused") return finish(answer.json.reveal, false);
    if (outcome === "denied" || (answer && answer.status < 500 && !outcome)) return denied(answer);
    tell("There is no answer yet. It is asked again with the same key, so that the order is booked once at most.");
    setTimeout(send, AGAIN_MS);
  }

  // The console did not let the call through. That says nothing about an earlier one.
  function denied(answer) {
    const unsure = pending.tries > 1;
    const login = new URLSearchParams(pending.fields).get("login");
    finish(answer.json.reveal || "", false);
    if (!answer.json.reveal) tell(answer.json.refused);
    if (!unsure) return;
    const link = document.createElement("a");
    link.href = `/orders?${new URLSearchParams({ login_id: login })}`;
    link.textContent = "Look at the client's orders first.";
    tell("It is not known whether the order was booked. ");
    byId("told").append(link);
  }

  function finish(html, isBooked) {
    pending = null;
    keep(null);
    booked = isBooked;
    body.classList.toggle("booked", isBooked);
    const hadFocus = document.activeElement === byId("book") || isBooked;
    unlock("", true);
    const shown = show(html);
    if (hadFocus) (shown?.querySelector("[data-first]") || byId("lock")).focus();
    look();
  }

  // Over a reload or a new log-in. The storage may be forbidden; then a lost answer is asked for in this page alone.
  function keep(text) {
    try {
      if (text === null) sessionStorage.removeItem(pendingKey);
      else sessionStorage.setItem(pendingKey, text);
    } catch {
      // Nothing is kept.
    }
  }

  function kept() {
    try {
      return JSON.parse(sessionStorage.getItem(pendingKey));
    } catch {
      return null;
    }
  }

  // --- Events ---------------------------------------------------------------------------------------------

  if (!byId("ticket-form")) return;

  document.addEventListener("submit", (event) => {
    if (event.target.id !== "ticket-form") return;
    event.preventDefault();
    changed();
    lockPrice();
  });
  document.addEventListener("input", (event) => {
    if (event.target.id === "client") {
      if (lock) changed();
      clearTimeout(soon);
      soon = setTimeout(findClients, 120, event.target.value);
    } else if (event.target.form?.id === "ticket-form") {
      if (lock) changed();
      clearTimeout(soon);
      soon = setTimeout(changed, event.target.type === "radio" ? 0 : 150);
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.form?.id === "ticket-form") changed();
  });
  document.addEventListener("focusout", (event) => {
    if (event.target.id === "client") closeClients();
  });
  document.addEventListener("mousedown", (event) => {
    const option = event.target.closest("#clients [data-login]");
    if (!option) return;
    event.preventDefault();
    choose(option);
    focusNext();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.id === "book") book();
    if (!button?.dataset.weight) return;
    byId("weight").value = button.dataset.weight;
    byId("weight").focus();
    changed();
  });
  document.addEventListener("keydown", (event) => {
    if (dialog.open) return;
    if (event.target.id === "client") clientKey(event);
    else if (event.key === "Enter" && event.repeat) event.preventDefault(); // A key that is held down.
    else if (event.key === "Escape" && lock && !pending) {
      unlock("The price is live again. Nothing was booked.");
      byId("weight").focus();
    } else if (event.key.toLowerCase() === "l" && !event.ctrlKey && !event.metaKey && !event.altKey) {
      if (!event.repeat && !event.target.closest("input:not([type=radio]), select, textarea")) lockPrice();
    }
  });
  addEventListener("beforeunload", (event) => {
    if (pending && !leaving) event.preventDefault();
  });
  new MutationObserver(() => {
    showBook();
    if (isOld()) byId("lock")?.setAttribute("aria-disabled", "true");
    else shown.main = null; // So that the next refresh writes the button anew.
  }).observe(body, { attributes: true, attributeFilter: ["class"] });

  pending = kept();
  if (pending) send();
  else if (byId("client").value) focusNext();
  showBook();
})();
