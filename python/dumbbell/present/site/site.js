
const search = document.querySelector("input.search");
if (search) {
  search.hidden = false;
  const rows = Array.from(document.querySelectorAll("section.searched tbody tr"));
  const groups = Array.from(document.querySelectorAll("section.searched"));
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    for (const row of rows) {
      const content = `${row.textContent} ${row.cells[0].title}`.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
    }
    for (const group of groups) {
      group.hidden = !group.querySelector("tbody tr:not([hidden])");
    }
  });
}
for (const link of document.querySelectorAll('a[href^="#"]')) {
  link.addEventListener("click", () => {
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    const folded = target && (target.tagName === "DETAILS" ? target : target.closest("details") || target.querySelector("details.cell"));
    if (folded) folded.open = true;
  });
}
if (location.hash) {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && (target.tagName === "DETAILS" ? target : target.closest("details") || target.querySelector("details.cell"));
  if (folded) {
    folded.open = true;
    target.scrollIntoView();
  }
}
