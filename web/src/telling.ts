// What can be said about a selection or a column, and the list of what was said: switched off, changed, forgotten.

import { button, count, fill, make } from "./dom";
import type { State, Stated } from "./types";

export interface Host {
  byId<T extends HTMLElement = HTMLElement>(id: string): T;
  readonly state: State;
  chosen(): { A: number[]; B: number[] }; // the two selections
  act(path: string, said: unknown): Promise<void>;
  shift(right: number, up: number): void; // moves the selection, in shares of the map's width
}

const COLUMN = ["factor_out", "bring_out", "axis"];
const ROWS = ["same", "different", "label", "pin", "drop"];

export class Telling {
  private editing = -1; // number of the statement that is being changed
  private filled = "";
  private column = ""; // what is chosen and typed stays when the selection or the statements change
  private label = ["", "label"];

  constructor(private host: Host) {}

  private tell(...statements: object[]): void { void this.host.act("say", { statements }); }

  private columns(): string[] { return this.host.state.columns.filter((column) => !column.feature).map((column) => column.name); }

  fillSay(): void {
    const { kept } = this.host.state;
    if (kept) return fill(this.host.byId("say"), ...kept.map((text) => make("p", { class: "note" }, text)));
    const { state } = this.host, { A, B } = this.host.chosen(), one = A.length > 0, two = one && B.length > 0, known = this.columns();
    const rows = [
      button(two ? "A and B are the same" : "These are the same", () => this.tell({ kind: "same", rows: A, ...(two ? { others: B } : {}) }), { disabled: !state.say.same || !(two || A.length > 1) }),
      button("A and B differ", () => this.tell({ kind: "different", rows: A, others: B }), { disabled: !state.say.different || !two }),
      button("Factor selection out", () => this.factorSelection(A), { disabled: !state.say.factor_out || !one }),
      button("Pin", () => this.tell({ kind: "pin", rows: A }), { disabled: !state.say.pin || !one, title: state.say.move ? "The next map holds these rows where they are" : "Align the next map by these rows" }),
      button("Drop", () => this.tell({ kind: "drop", rows: A }), { disabled: !state.say.drop || !one, title: "Fit without these rows" })];
    const parts: HTMLElement[] = [make("div", { class: "tools wrap" }, ...rows)];
    if (state.say.move) parts.push(this.arrows(one));
    parts.push(this.labelForm(A));
    if (known.length) parts.push(this.byColumn(known));
    fill(this.host.byId("say"), ...parts);
  }

  // Dragging by keyboard.
  private arrows(enabled: boolean): HTMLElement {
    const ways: [string, string, number, number][] = [["←", "left", -1, 0], ["→", "right", 1, 0], ["↑", "up", 0, 1], ["↓", "down", 0, -1]];
    return make("div", { class: "tools wrap", role: "group", "aria-label": "Move the selection" }, make("span", { class: "note" }, "Move"),
      ...ways.map(([sign, name, right, up]) => button(sign, () => this.host.shift(right / 12, up / 12), { disabled: !enabled, "aria-label": `Move the selection ${name}` })));
  }

  private labelForm(A: number[]): HTMLElement {
    const typed = () => { this.label = [value.value, column.value]; };
    const value: HTMLInputElement = make("input", { type: "text", "aria-label": "Label", placeholder: "label", value: this.label[0], size: 9, maxLength: 80, oninput: typed });
    const column: HTMLInputElement = make("input", { type: "text", "aria-label": "Column of the label", value: this.label[1], size: 7, maxLength: 80, oninput: typed });
    const submit = (event: Event) => {
      event.preventDefault();
      if (!A.length || !value.value || !column.value) return;
      this.label[0] = "";
      this.tell({ kind: "label", rows: A, column: column.value, value: value.value });
    };
    return make("form", { class: "tools wrap", onsubmit: submit }, value, " in ", column, make("button", { type: "submit", disabled: !A.length }, "Label"));
  }

  private byColumn(known: string[]): HTMLElement {
    const { say } = this.host.state, select = choice("Column", known, known.includes(this.column) ? this.column : known[0]);
    select.onchange = () => { this.column = select.value; };
    const column = () => select.value;
    return make("div", { class: "tools wrap" }, select,
      button("Factor out", () => this.tell({ kind: "factor_out", column: column() }), { disabled: !say.factor_out, title: "This is known: show the rest" }),
      button("Bring out", () => this.tell({ kind: "bring_out", column: column() }), { disabled: !say.bring_out, title: "Rows that are equal there should be near" }),
      button("Show on an axis", () => this.tell({ kind: "axis", column: column(), ...this.period(column()) }), { disabled: !say.axis, title: "Let an axis of the map show it" }));
  }

  private period(column: string): object {
    const period = this.host.state.columns.find((one) => !one.feature && one.name === column)?.period;
    return period ? { period } : {};
  }

  private factorSelection(rows: number[]): void {
    const { state } = this.host, inside = new Set(rows), rest = Array.from({ length: state.rows }, (_, k) => k).filter((k) => !inside.has(k));
    const taken = new Set(state.columns.map((entry) => entry.name));
    let k = 1;
    while (taken.has(`selection ${k}`)) k++;
    const column = `selection ${k}`;
    this.tell({ kind: "label", rows, column, value: "in" }, { kind: "label", rows: rest, column, value: "out" }, { kind: "factor_out", column });
  }

  fillStatements(): void {
    const { state } = this.host;
    if (this.editing >= state.statements.length) this.editing = -1;
    const now = JSON.stringify([state.statements, this.editing, this.editing < 0 ? null : this.host.chosen()]);
    if (now === this.filled) return; // nothing is another: what is typed in a form stays
    this.filled = now;
    fill(this.host.byId("statements"), ...state.statements.map((one, at) => {
      const line = [make("label", {}, make("input", { type: "checkbox", checked: one.on, disabled: state.kept !== undefined, onchange: () => void this.host.act("switch", { at }) }), ` ${one.words}`)] as HTMLElement[];
      if (state.kept === undefined && one.kind !== "move") line.push(button("Edit", () => this.edit(at), { "aria-label": `Edit: ${one.words}`, class: "quiet", "aria-expanded": String(this.editing === at) }));
      if (state.kept === undefined) line.push(button("×", () => { this.editing = -1; void this.host.act("forget", { at }); }, { "aria-label": `Forget: ${one.words}`, class: "quiet" }));
      const parts: HTMLElement[] = [make("div", { class: "stated" }, ...line)];
      if (this.editing === at) parts.push(this.editor(one, at));
      return make("li", { class: one.on ? "" : "off" }, ...parts);
    }));
  }

  private edit(at: number): void {
    this.editing = this.editing === at ? -1 : at;
    this.fillStatements();
    this.host.byId("statements").querySelector<HTMLElement>("form input, form select")?.focus();
  }

  private editor(one: Stated, at: number): HTMLElement {
    const { A, B } = this.host.chosen(), parts: (HTMLElement | string)[] = [];
    const value = make("input", { type: "text", "aria-label": "New label", value: one.value, size: 9, maxLength: 80 });
    const name = make("input", { type: "text", "aria-label": "New column of the label", value: one.column, size: 7, maxLength: 80 });
    const column = choice("New column", this.columns(), one.column);
    const others = one.kind === "different" || (one.kind === "same" && B.length > 0);
    const ready = A.length > 0 && (!others || B.length > 0);
    const rows = make("input", { type: "checkbox", disabled: !ready });
    if (one.kind === "label") parts.push(value, " in ", name);
    if (COLUMN.includes(one.kind)) parts.push(column);
    if (ROWS.includes(one.kind)) parts.push(make("label", {}, rows, ` rows of the selection (A ${count(A.length, "row")}${others ? `, B ${count(B.length, "row")}` : ""})`));
    const save = (event: Event) => {
      event.preventDefault();
      const changes: Record<string, unknown> = {};
      if (one.kind === "label") Object.assign(changes, { value: value.value, column: name.value });
      if (COLUMN.includes(one.kind)) Object.assign(changes, { column: column.value }, one.kind === "axis" ? { period: 0, ...this.period(column.value) } : {});
      if (rows.checked) Object.assign(changes, { rows: A }, others ? { others: B } : one.kind === "same" ? { others: [] } : {});
      this.editing = -1;
      if (Object.keys(changes).length) void this.host.act("edit", { at, changes }).then(() => this.fillStatements());
      else this.fillStatements();
    };
    return make("form", { class: "tools wrap", "aria-label": `Edit: ${one.words}`, onsubmit: save }, ...parts, make("button", { type: "submit" }, "Change"), button("Cancel", () => this.edit(at)));
  }
}

function choice(label: string, values: string[], chosen: string): HTMLSelectElement {
  return make("select", { "aria-label": label }, ...values.map((value) => make("option", { value, selected: value === chosen }, value)));
}

// Names of the two axes at the edges of the stage, where an axis shows a column.
export function nameAxes(stage: HTMLElement, names: string[], axes: [number, number]): void {
  for (const old of stage.querySelectorAll(".axis")) old.remove();
  (["x", "y"] as const).forEach((which, k) => {
    const name = names[axes[k]];
    if (name) stage.append(make("span", { class: `axis ${which}` }, `${name} →`));
  });
}
