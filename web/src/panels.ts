// Lists beside the map: what sets a selection apart, statements, maps, measures, code.

import { picture } from "./card";
import { button, count, dated, make, ofFeature, short, written } from "./dom";
import type { Counterfactual, Measures, State, Summary } from "./types";

export function summaryOf(state: State, found: Summary, compared: boolean): HTMLElement {
  const parts: HTMLElement[] = [];
  for (const one of found.columns.slice(0, 4)) {
    const shown = one.date ? dated : written, said = one.range ? `${shown(one.range[1])} (${shown(one.range[0])} to ${shown(one.range[2])})` : one.values.slice(0, 3).map(({ value, count: k }) => `${value} ${Math.round((100 * k) / found.count)} %`).join(", ");
    parts.push(make("p", { class: "note" }, `${one.name}: ${said}`));
  }
  if (state.image && found.here_mean && found.there_mean) {
    parts.push(make("div", { class: "pictures" }, picture(found.here_mean, state.image, state.range, "mean of A"),
      picture(found.there_mean, state.image, state.range, compared ? "mean of B" : "mean of the rest")));
  }
  if (found.unknown) return make("div", {}, ...parts);
  if (!found.features.length) return make("div", {}, ...parts, make("p", { class: "note" }, "There is no other row to compare with."));
  const head = ["feature", "A", compared ? "B" : "rest", "SD apart (95 %)", "FDR"].map((text) => make("th", { scope: "col" }, text));
  const lines = found.features.slice(0, 10).map((one) => make("tr", { class: one.fdr > 0.05 ? "weak" : "" },
    make("th", { scope: "row", title: one.name }, one.name), make("td", {}, ofFeature(one.here, one.name, state.dates)), make("td", {}, ofFeature(one.there, one.name, state.dates)),
    make("td", {}, `${short(one.effect)} (${short(one.low)}, ${short(one.high)})`), make("td", {}, one.fdr < 0.001 ? "< 0.001" : one.fdr.toFixed(3))));
  const after = found.after?.length ? ` after ${found.after.join(", ")}` : "";
  const table = make("table", { class: "effects" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines));
  if (state.image) parts.push(make("details", {}, make("summary", {}, `What sets it apart${after}, pixel by pixel`), table));
  else parts.push(make("h3", {}, `What sets it apart${after}`), make("div", { class: "scrolled", tabIndex: 0, role: "region", "aria-label": "What sets it apart" }, table));
  return make("div", {}, ...parts);
}

export function changed(state: State, found: Counterfactual): HTMLElement {
  const parts = found.remarks.map((text) => make("p", { class: "note warn" }, text));
  for (const one of found.rows.slice(0, 6)) {
    if (state.image) parts.push(make("div", { class: "pictures" }, picture(one.now, state.image, state.range, `row ${one.row}`), picture(one.then, state.image, state.range, "with what is chosen")));
    else {
      const moves = one.then.map((value, k) => ({ k, by: Math.abs(value - one.now[k]) })).sort((a, b) => b.by - a.by).slice(0, 4);
      parts.push(make("p", { class: "note" }, `Row ${one.row}: ${moves.map(({ k }) => `${state.features[k]} ${written(one.now[k])} → ${written(one.then[k])}`).join(", ")}`));
    }
  }
  return make("div", {}, ...parts);
}

export function mapsOf(state: State, visit: (at: number) => void): HTMLElement[] {
  return state.maps.map((one, at) => make("li", {}, button(`Map ${one.number}`, () => visit(at), { "aria-current": at === state.current ? "true" : undefined }), make("span", { class: "note" }, one.words)));
}

export function measuresOf(before: Measures | null, now: Measures, called: string): HTMLElement {
  const line = (name: string, was: string, is: string) => make("tr", {}, make("th", { scope: "row", title: name }, name), ...(before ? [make("td", {}, was)] : []), make("td", {}, is));
  const lines = [line("trustworthiness", before ? before.trustworthiness.toFixed(3) : "", now.trustworthiness.toFixed(3))];
  if (now.rest != null) lines.push(line(`trustworthiness after ${(now.after ?? []).join(", ")}`, before?.rest?.toFixed(3) ?? "–", now.rest.toFixed(3)));
  if (now.reconstruction !== null) lines.push(line("reconstruction (R²)", before?.reconstruction?.toFixed(3) ?? "–", now.reconstruction.toFixed(3)));
  for (const one of now.columns) {
    const was = before?.columns.find((other) => other.name === one.name), chance = one.kind === "category" ? ` (chance ${one.chance.toFixed(2)})` : " (R²)";
    lines.push(line(`neighbours tell ${one.name}${chance}`, was ? was.value.toFixed(3) : "–", one.value.toFixed(3)));
  }
  const head = make("tr", {}, make("th", { scope: "col" }, "measure"), ...(before ? [make("th", { scope: "col" }, called)] : []), make("th", { scope: "col" }, "now"));
  return make("table", { class: "measures" }, make("thead", {}, head), make("tbody", {}, ...lines));
}

export function codeOf(state: State, which: "python" | "command", choose: (which: "python" | "command") => void, copy: (text: string) => void): HTMLElement[] {
  const tab = (kind: "python" | "command", text: string) => button(text, () => choose(kind), { "aria-pressed": String(which === kind) });
  const text = state.code[which];
  return [make("div", { class: "tools" }, tab("python", "Python"), tab("command", "Command line"), button("Copy", () => copy(text))),
    make("pre", { tabIndex: 0, "aria-label": "Code" }, make("code", {}, text))];
}

export function aboutOf(state: State): string {
  const took = state.seconds ? `, fitted in ${state.seconds.toFixed(1)} s` : "";
  return `${count(state.rows, "row")}, ${count(state.features.length + state.texts.length, "feature")}, ${state.model}${took}`;
}
