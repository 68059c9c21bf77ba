"use strict";
const data = JSON.parse(document.getElementById("comparison").textContent);
const groups = [...document.querySelectorAll("figure g")];
const chooser = document.getElementById("colour");
const pointed = document.getElementById("pointed");
const idle = pointed.textContent;
let marked = -1;

function showLegend(column) {
  const legend = document.getElementById("legend");
  legend.replaceChildren(...column.legend.map(([text, colour]) => {
    const entry = document.createElement("span");
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of [["width", "100%"], ["height", "100%"], ["rx", "2"], ["fill", colour]]) dot.setAttribute(name, value);
    mark.append(dot);
    entry.append(mark, text);
    return entry;
  }));
}

function colourBy(column) {
  for (const group of groups) [...group.children].forEach((point, k) => point.setAttribute("fill", column.fills[k]));
  showLegend(column);
}

function mark(row) {
  if (row === marked) return;
  for (const group of groups) {
    if (marked >= 0) group.children[marked].classList.remove("on");
    if (row >= 0) group.children[row].classList.add("on");
  }
  marked = row;
  const entries = row < 0 ? [] : data.columns.slice(0, 6).map((column) => `${column.name}: ${column.entries[row] || "–"}`);
  pointed.textContent = row < 0 ? idle : [data.rows[row], ...entries].join(" · ");
}

for (const group of groups) {
  const svg = group.ownerSVGElement;
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const size = svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * size, y = (event.clientY - box.top) * size;
    let best = -1, least = 12 ** 2;
    [...group.children].forEach((point, k) => {
      const far = (point.cx.baseVal.value - x) ** 2 + (point.cy.baseVal.value - y) ** 2;
      if (far < least) { least = far; best = k; }
    });
    mark(best);
  });
  svg.addEventListener("pointerleave", () => mark(-1));
}
if (chooser !== null) {
  chooser.addEventListener("change", () => colourBy(data.columns[Number(chooser.value)]));
  showLegend(data.columns[0]);
}
document.documentElement.dataset.ready = "yes";
