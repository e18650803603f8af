"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort);
  };
  const compare = (a, b) => {
    const numbers = [typeof a, typeof b].filter((kind) => kind === "number").length;
    if (numbers === 2) return a - b;
    if (numbers === 0) return a.localeCompare(b);
    return typeof a === "number" ? -1 : 1;
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = Array.from(body.rows).sort((a, b) => compare(key(a, column), key(b, column)));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
}
for (const region of document.querySelectorAll(".scroll")) {
  const tell = () => region.classList.toggle("overflows", region.scrollWidth > region.clientWidth + 1);
  new ResizeObserver(tell).observe(region);
  tell();
}
