// Keeps what somebody types into a dialog until it is sent: over Escape, a reload, a new log-in, a restart of the console
// and a lost connection. In this tab alone, and never a password, a token or a code.
"use strict";

const drafts = (() => {
  const user = document.getElementById("dialog")?.dataset.user;
  const prefix = `draft ${user} `;
  const openKey = `open dialog ${user}`;
  const here = () => location.pathname + location.search;

  // The storage may be full or forbidden. Then nothing is kept, and everything else works.
  function attempt(work) {
    try {
      return work();
    } catch {
      return null;
    }
  }

  function fieldsOf(form) {
    return [...form.querySelectorAll(".contents [name]")].filter(
      (each) =>
        !["hidden", "password"].includes(each.type) &&
        each.autocomplete !== "one-time-code" &&
        !("secret" in each.dataset),
    );
  }

  function valueOf(field) {
    return field.type === "checkbox" ? field.checked : field.value;
  }

  function valueBefore(field) {
    if (field.type === "checkbox") return field.defaultChecked;
    if (field.nodeName !== "SELECT") return field.defaultValue;
    const chosen = [...field.options].find((each) => each.defaultSelected) || field.options[0];
    return chosen ? chosen.value : "";
  }

  function setValue(field, value) {
    if (field.type === "checkbox") field.checked = value;
    else field.value = value;
  }

  // Only what was changed: everything else is shown as it is now when the dialog is opened again.
  function save(form, path) {
    const changed = fieldsOf(form).filter((each) => valueOf(each) !== valueBefore(each));
    if (!changed.length) return drop(path);
    const valuesBy = (value) => Object.fromEntries(changed.map((each) => [each.name, value(each)]));
    const draft = { typed: valuesBy(valueOf), before: valuesBy(valueBefore) };
    attempt(() => sessionStorage.setItem(prefix + path, JSON.stringify(draft)));
  }

  // Whether anything is back. A form that guards against changes of others carries a digest of what it shows now, so
  // there an older text must not replace a newer value: the guard would let it pass.
  function restore(form, path) {
    const { typed, before } = attempt(() => JSON.parse(sessionStorage.getItem(prefix + path))) || {};
    if (!typed) return false;
    const guarded = form.querySelector(".contents [name=seen]") !== null;
    let restored = false;
    for (const field of fieldsOf(form)) {
      if (!(field.name in typed) || typed[field.name] === valueBefore(field)) continue;
      if (guarded && before[field.name] !== valueBefore(field)) {
        tellChanged(field);
      } else {
        setValue(field, typed[field.name]);
        restored = true;
      }
    }
    save(form, path);
    return restored;
  }

  function tellChanged(field) {
    const told = document.createElement("small");
    told.className = "restored";
    told.textContent = "This was changed meanwhile. What you typed here is not back.";
    field.closest(".field, fieldset").append(told);
  }

  function reset(form) {
    fieldsOf(form).forEach((each) => setValue(each, valueBefore(each)));
  }

  function has(path) {
    return attempt(() => sessionStorage.getItem(prefix + path)) !== null;
  }

  function drop(path) {
    attempt(() => sessionStorage.removeItem(prefix + path));
  }

  function opened(path) {
    attempt(() => sessionStorage.setItem(openKey, JSON.stringify({ path, page: here() })));
  }

  function closed() {
    attempt(() => sessionStorage.removeItem(openKey));
  }

  // The dialog with input that was open on this page when the page was left.
  function interrupted() {
    const open = attempt(() => JSON.parse(sessionStorage.getItem(openKey)));
    return open && open.page === here() && has(open.path) ? open.path : null;
  }

  function clear(isOurs) {
    attempt(() => {
      for (const key of Object.keys(sessionStorage)) {
        const draft = key.startsWith("draft ") || key.startsWith("open dialog ");
        if (draft && isOurs(key)) sessionStorage.removeItem(key);
      }
    });
  }

  // Another user of the same tab must not see them.
  if (user) clear((key) => !key.startsWith(prefix) && key !== openKey);
  return { save, restore, reset, has, drop, opened, closed, interrupted, clearAll: () => clear(() => true) };
})();
