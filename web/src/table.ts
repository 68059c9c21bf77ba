// Rows as a table beside the map. Only what is seen is asked for and drawn; ranks of a column sort it.

import { count, fill, make } from "./dom";
import { shown } from "./filters";
import type { Mode } from "./scatter";
import type { State } from "./types";
import type { Asks } from "./values";

const TALL = 26, MARGIN = 6, KEPT = 4000;

interface Line { row: number; name: string; cells: (string | number | null)[] }
type Sort = { path: string; down: boolean } | null;
export type Scope = "selection" | "filter";

export class TableView {
  scope: Scope = "filter";
  order: Int32Array<ArrayBufferLike> = new Int32Array();
  private state: State | null = null;
  private selected: Set<number> = new Set();
  private passes: (row: number) => boolean = () => true;
  private cache = new Map<number, Line>();
  private sort: Sort = null;
  private at = -1; // line of the table that the keyboard is on
  private marked = -1;
  private asking = false;
  private waiting = false;
  private again = 0;
  private later = 0;
  private told = make("span", { class: "note", role: "status", id: "table-about" });
  private scopes = make("select", { "aria-label": "Rows in the table", onchange: () => { this.scope = this.scopes.value as Scope; void this.list(); } },
    make("option", { value: "filter" }, "rows that pass"), make("option", { value: "selection" }, "selected rows"));
  private head = make("thead");
  private body = make("tbody");
  private grid = make("table", { role: "grid", tabIndex: 0, class: "rows", "aria-label": "Rows. Arrow keys go from row to row, Space selects the row." }, this.head, this.body);
  private scroll = make("div", { class: "table-scroll" }, this.grid);

  constructor(private box: HTMLElement, private asks: Asks, private ranks: (path: string) => Promise<Float32Array>, private tried: (work: () => Promise<void>) => Promise<void>,
    private on: { mark: (row: number) => void; select: (row: number, mode: Mode) => void }) {
    fill(box, make("div", { class: "tools wrap" }, make("label", { class: "note" }, "Table of ", this.scopes), this.told), this.scroll);
    this.scroll.addEventListener("scroll", () => this.draw());
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.grid.addEventListener("focus", () => { if (this.at < 0 && this.order.length) this.go(0, false); });
    new ResizeObserver(() => this.draw()).observe(this.scroll);
  }

  get open(): boolean { return !this.box.hidden; }
  set open(open: boolean) { this.box.hidden = !open; if (open) void this.list(); }

  // Columns of a new state; `fresh`: values may have changed.
  take(state: State, fresh: boolean): void {
    const another = JSON.stringify(this.state?.columns) !== JSON.stringify(state.columns);
    this.state = state;
    if (another || fresh) this.cache.clear();
    if (another) { this.sort = null; this.fillHead(); }
    if (this.open) void this.list();
  }

  // Other rows are selected, or pass.
  rows(selected: Set<number>, passes: (row: number) => boolean, scope?: Scope): void {
    this.selected = selected;
    this.passes = passes;
    if (scope) this.scope = scope;
    clearTimeout(this.later);
    this.later = window.setTimeout(() => { if (this.open) void this.list(); }, 40); // a filter that is dragged changes them often
  }

  mark(row: number): void {
    this.marked = row;
    for (const line of this.body.querySelectorAll<HTMLElement>("tr[data-row]")) line.classList.toggle("marked", Number(line.dataset.row) === row);
  }

  private named(): boolean { return [...this.cache.values()].some(({ name }) => name); }

  // The rows of the table in their order.
  private async list(): Promise<void> {
    const { state } = this, now = ++this.again;
    if (!state) return;
    await this.tried(async () => {
      const scope = this.scope === "selection" && this.selected.size ? "selection" : "filter";
      const ranks = this.sort ? await this.ranks(this.sort.path) : null;
      if (now !== this.again) return; // asked again in between
      let rows = scope === "selection" ? Int32Array.from(this.selected).sort() : Int32Array.from({ length: state.rows }, (_, k) => k);
      rows = rows.filter((row) => this.passes(row));
      if (ranks) {
        const by = this.sort!.down ? -1 : 1, last = (row: number) => (Number.isNaN(ranks[row]) ? 1 : 0);
        rows.sort((a, b) => last(a) - last(b) || (last(a) ? 0 : by * (ranks[a] - ranks[b])) || a - b);
      }
      this.order = rows;
      this.scopes.value = scope;
      (this.scopes.options[1] as HTMLOptionElement).disabled = !this.selected.size;
      this.told.textContent = count(rows.length, "row");
      this.grid.setAttribute("aria-rowcount", String(rows.length + 1));
      this.at = Math.min(this.at, rows.length - 1);
      this.draw();
    });
  }

  private fillHead(): void {
    const { columns } = this.state!, sorts = [["Row", ""], ["Name", "ranks"], ...columns.map((one, at) => [one.name, `ranks?at=${at}`])];
    const words = new Set(columns.filter((one) => one.kind === "categories").map((one) => one.name));
    this.grid.setAttribute("aria-colcount", String(sorts.length));
    fill(this.head, make("tr", { role: "row", "aria-rowindex": "1" }, ...sorts.map(([name, path]) => {
      const own = path === (this.sort?.path ?? "");
      const press = () => {
        this.sort = !path ? null : this.sort?.path !== path ? { path, down: false } : this.sort.down ? null : { path, down: true };
        this.fillHead();
        void this.list();
        [...this.head.querySelectorAll<HTMLElement>("button")].find((one) => one.dataset.path === path)?.focus();
      };
      const press_ = make("button", { type: "button", class: "sorter", title: `Sort by ${name}`, onclick: press }, name, own && path ? (this.sort?.down ? " ↓" : " ↑") : "");
      press_.dataset.path = path;
      const cell = make("th", { scope: "col", role: "columnheader", "aria-sort": own && path ? (this.sort?.down ? "descending" : "ascending") : "none" }, press_);
      if (path === "ranks") cell.className = "name word";
      else if (words.has(name)) cell.className = "word";
      return cell;
    })));
  }

  private draw(): void {
    if (this.waiting || !this.open) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  private visible(): [number, number] {
    const first = Math.floor((this.scroll.scrollTop - TALL) / TALL) - MARGIN, shownLines = Math.ceil(this.scroll.clientHeight / TALL) + 2 * MARGIN;
    const from = Math.max(0, Math.min(first, this.order.length - shownLines));
    return [from, Math.min(this.order.length, from + shownLines)];
  }

  private paint(): void {
    const [from, to] = this.visible(), lines: HTMLElement[] = [], state = this.state!;
    const space = (many: number) => { const line = make("tr", { class: "space", "aria-hidden": "true" }, make("td")); line.style.height = `${TALL * many}px`; return line; };
    if (from) lines.push(space(from));
    for (let k = from; k < to; k++) {
      const row = this.order[k], known = this.cache.get(row), picked = this.selected.has(row);
      const cells = state.columns.map((column, at) => {
        const value = known?.cells[at];
        const text = value === undefined || value === null ? "–" : typeof value === "number" ? shown(value, column) : value;
        return make("td", { role: "gridcell", title: text, class: typeof value === "number" ? "" : "word" }, known ? text : "…");
      });
      const line = make("tr", { role: "row", id: `line-${k}`, "aria-rowindex": String(k + 2), "aria-selected": String(picked), class: `${picked ? "picked" : ""} ${row === this.marked ? "marked" : ""} ${k === this.at ? "at" : ""}`,
        onpointerenter: () => this.on.mark(row), onclick: (event: Event) => { this.at = k; this.toggle(row, event as MouseEvent); } },
      make("td", { role: "gridcell" }, `${picked ? "✓ " : ""}${row}`), make("td", { role: "gridcell", class: "name word", title: known?.name ?? "" }, known?.name ?? ""), ...cells);
      line.dataset.row = String(row);
      lines.push(line);
    }
    if (to < this.order.length) lines.push(space(this.order.length - to));
    this.grid.classList.toggle("nameless", !this.named());
    if (this.at >= from && this.at < to) this.grid.setAttribute("aria-activedescendant", `line-${this.at}`);
    else this.grid.removeAttribute("aria-activedescendant");
    fill(this.body, ...lines);
    void this.fetch();
  }

  // Asks for the rows that are seen and not known; one question at a time, the last place wins.
  private async fetch(): Promise<void> {
    if (this.asking) return;
    const [from, to] = this.visible(), lacking = [...this.order.subarray(Math.max(0, from - 40), to + 40)].filter((row) => !this.cache.has(row));
    if (![...this.order.subarray(from, to)].some((row) => !this.cache.has(row))) return;
    this.asking = true;
    await this.tried(async () => {
      try {
        if (this.cache.size > KEPT) this.cache.clear();
        for (const line of (await this.asks.post<{ rows: Line[] }>("rows", { rows: lacking })).rows) this.cache.set(line.row, line);
        this.draw();
      } finally { this.asking = false; }
    });
  }

  private toggle(row: number, event: MouseEvent | KeyboardEvent): void {
    this.on.select(row, this.selected.has(row) ? "remove" : event.altKey ? "remove" : "add");
  }

  private go(k: number, mark = true): void {
    this.at = Math.max(0, Math.min(this.order.length - 1, k));
    const top = TALL * this.at, { scrollTop, clientHeight } = this.scroll;
    if (top < scrollTop) this.scroll.scrollTop = top;
    else if (top + 2 * TALL > scrollTop + clientHeight - TALL) this.scroll.scrollTop = top + 3 * TALL - clientHeight;
    if (mark) this.on.mark(this.order[this.at]);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    if ((event.target as HTMLElement).tagName === "BUTTON") return;
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / TALL) - 2);
    const to: Record<string, number> = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.order.length - 1 };
    if (!this.order.length) return;
    if (event.key in to) this.go(to[event.key]);
    else if ((event.key === " " || event.key === "Enter") && this.at >= 0) this.toggle(this.order[this.at], event);
    else return;
    event.preventDefault();
  }
}
