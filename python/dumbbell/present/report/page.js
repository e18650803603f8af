"use strict";
// Tables sort by the column whose head is clicked; what is no number stays below the numbers.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort);
  };
  const compare = (a, b, sign) => {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b));
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
      const rows = Array.from(body.rows);
      body.append(...rows.sort((a, b) => compare(key(a, column), key(b, column), down ? -1 : 1)));
    });
  });
}
// A field above a long table leaves the rows that contain all of its words.
for (const table of document.querySelectorAll("table.filtered")) {
  const region = table.parentElement;
  const rows = Array.from(table.tBodies[0].rows);
  if (rows.length < 6) continue;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter rows, for example bbr";
  field.setAttribute("aria-label", `Filter rows: ${region.getAttribute("aria-label")}`);
  const count = document.createElement("output");
  const line = document.createElement("p");
  line.className = "filter";
  line.append(field, " ", count);
  region.before(line);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let shown = 0;
    for (const row of rows) {
      const content = `${row.textContent} ${row.dataset.scheme || ""}`.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.value = words.length ? `${shown} of ${rows.length} rows` : "";
  });
}
// Of the planes of a path the one is shown that is chosen above them.
for (const planes of document.querySelectorAll("div.planes")) {
  const each = Array.from(planes.children);
  if (each.length < 2) continue;
  const field = document.createElement("select");
  field.setAttribute("aria-label", "Metrics of the figure");
  for (const plane of each) field.add(new Option(plane.dataset.title));
  const line = document.createElement("p");
  line.className = "filter";
  line.append(field);
  planes.prepend(line);
  field.addEventListener("change", () => each.forEach((plane, index) => { plane.hidden = index !== field.selectedIndex; }));
}
// A scheme that is pointed at, or whose name is clicked, is lit in all tables and figures.
if (document.querySelector("g[data-scheme]")) {
  const everywhere = Array.from(document.querySelectorAll("[data-scheme]"));
  const buttons = [];
  let pinned = null;
  const light = (name) => {
    for (const each of everywhere) each.classList.toggle("lit", each.dataset.scheme === name);
    document.body.classList.toggle("lighting", name !== null);
  };
  const pin = (name) => {
    pinned = pinned === name ? null : name;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.closest("tr").dataset.scheme === pinned));
    light(pinned);
  };
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  for (const each of everywhere) {
    const title = each.querySelector("title");
    const head = each.querySelector("th");
    if (title) {
      each.dataset.tip = title.textContent;
      title.remove();
      each.addEventListener("click", () => pin(each.dataset.scheme));
    } else if (head) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "false");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => pin(each.dataset.scheme));
      buttons.push(button);
    }
  }
  document.addEventListener("pointerover", (event) => {
    const at = event.target.closest("[data-scheme]");
    light(at ? at.dataset.scheme : pinned);
    tip.hidden = !(at && at.dataset.tip);
    if (!tip.hidden) {
      tip.textContent = at.dataset.tip;
      tip.style.left = `${Math.max(Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 4), 0)}px`;
      tip.style.top = `${event.clientY + 16}px`;
    }
  });
}
for (const region of document.querySelectorAll(".scroll")) {
  const tell = () => region.classList.toggle("overflows", region.scrollWidth > region.clientWidth + 1);
  new ResizeObserver(tell).observe(region);
  tell();
}
