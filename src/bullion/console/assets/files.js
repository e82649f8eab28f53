// Reads a file that somebody chose into the field that it stands for. The file itself is not sent.
"use strict";

document.addEventListener("change", async (event) => {
  const chosen = event.target;
  const field = chosen.dataset?.fills && chosen.form.elements[chosen.dataset.fills];
  if (!field || !chosen.files.length) return;
  field.value = await chosen.files[0].text();
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
