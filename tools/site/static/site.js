// A button on each block of code that copies it, where the browser lets a page do that.
if (navigator.clipboard) {
  for (const block of document.querySelectorAll(".highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector("pre").textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.append(button);
  }
}

// On a phone the rows of a table become lists, so each cell is told the name of its column.
for (const table of document.querySelectorAll("table.docutils")) {
  const names = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, column) => { cell.dataset.label = names[column] ?? ""; });
  }
  table.classList.add("told");
}
