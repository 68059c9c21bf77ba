// A row and what the model makes of a place, side by side: pictures, a short table with bars, or a profile.

import { make, ofFeature, written } from "./dom";
import type { Column, Decoded, Row, State } from "./types";

const LISTED = 14; // features that fit into a table; more are a profile

export function picture(values: number[], shape: [number, number], range: [number, number], label: string): HTMLElement {
  const [height, width] = shape, canvas = make("canvas", { width, height, role: "img", "aria-label": label });
  const context = canvas.getContext("2d")!, image = context.createImageData(width, height), span = range[1] - range[0] || 1;
  values.forEach((value, k) => {
    const grey = Math.round(255 * Math.min(1, Math.max(0, (value - range[0]) / span)));
    image.data.set([grey, grey, grey, 255], 4 * k);
  });
  context.putImageData(image, 0, 0);
  return make("figure", {}, canvas, make("figcaption", {}, label));
}

function bar(value: number | null | undefined, column: Column | undefined, kind: string): HTMLElement {
  const low = column?.low ?? 0, high = column?.high ?? 1, share = value == null || high <= low ? 0 : (value - low) / (high - low);
  const inner = make("span", { class: kind });
  inner.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  return make("span", { class: "bar" }, inner);
}

function table(state: State, row: Row | null, here: Decoded | null): HTMLElement {
  const head = make("tr", {}, make("th", { scope: "col" }, "feature"), make("th", { scope: "col" }, "row"), make("th", { scope: "col" }, "place"));
  const lines = state.features.slice(0, LISTED).map((name, k) => {
    const column = state.columns.find((one) => one.feature && one.name === name);
    return make("tr", {}, make("th", { scope: "row", title: name }, name),
      make("td", {}, row ? ofFeature(row.values[k], name, state.dates) : "", bar(row?.values[k], column, "row-bar")),
      make("td", {}, here?.values ? ofFeature(here.values[k], name, state.dates) : "", bar(here?.values?.[k], column, "place-bar")));
  });
  const words = state.texts.map((name, k) => make("tr", {}, make("th", { scope: "row", title: name }, name),
    make("td", {}, row?.texts[k] ?? ""), make("td", {}, here?.texts?.[k] ?? "")));
  return make("table", { class: "features" }, make("thead", {}, head), make("tbody", {}, ...lines, ...words));
}

function profile(state: State, row: Row | null, here: Decoded | null, style: CSSStyleDeclaration): HTMLElement {
  const canvas = make("canvas", { width: 320, height: 110, class: "profile", role: "img", "aria-label": "Values of all features: bars are the row, the line is the place" });
  const context = canvas.getContext("2d")!, all = [...(row?.values ?? []), ...(here?.values ?? [])].filter(Number.isFinite);
  const low = Math.min(0, ...all), high = Math.max(1e-12, ...all), y = (value: number) => 104 - (98 * (value - low)) / (high - low || 1), d = state.features.length;
  context.fillStyle = style.getPropertyValue("--line");
  row?.values.forEach((value, k) => context.fillRect((320 * k) / d, Math.min(y(0), y(value)), Math.max(1, 320 / d - 0.5), Math.abs(y(value) - y(0))));
  context.strokeStyle = style.getPropertyValue("--accent");
  context.beginPath();
  here?.values?.forEach((value, k) => context[k ? "lineTo" : "moveTo"]((320 * (k + 0.5)) / d, y(value)));
  context.stroke();
  return make("figure", {}, canvas, make("figcaption", {}, `${d} features: bars are the row, the line is the place`));
}

export function card(state: State, row: Row | null, here: Decoded | null, style: CSSStyleDeclaration): HTMLElement {
  const parts: HTMLElement[] = [];
  if (row) {
    const named = row.name ? `Row ${row.row}: ${row.name}` : `Row ${row.row}`;
    parts.push(make("p", { class: "row-name" }, named));
    const known = Object.entries(row.columns).slice(0, 8);
    if (known.length) parts.push(make("dl", {}, ...known.flatMap(([name, value]) =>
      [make("dt", { title: name }, name), make("dd", {}, typeof value === "number" ? written(value) : String(value ?? "–"))])));
  }
  if (state.image) {
    const [shape, range] = [state.image, state.range], shown = [];
    if (row) shown.push(picture(row.values, shape, range, "the row"));
    if (here?.values) shown.push(picture(here.values, shape, range, "the place"));
    parts.push(make("div", { class: "pictures" }, ...shown));
  } else if (row || here?.values) parts.push(state.features.length <= LISTED ? table(state, row, here) : profile(state, row, here, style));
  if (here && here.typicality !== null) {
    const usual = here.typicality < 0.01 ? "No rows are near: the decoded values are a guess." : `A more usual place than ${Math.round(100 * here.typicality)} % of the rows have.`;
    parts.push(make("p", { class: here.typicality < 0.01 ? "note warn" : "note" }, usual));
  }
  if (!parts.length) parts.push(make("p", { class: "note" }, "Point at the map to see the nearest row and what the model decodes at that place."));
  return make("div", { class: "card" }, ...parts);
}
