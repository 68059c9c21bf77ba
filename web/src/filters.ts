// Filters of rows by every column, with linked histograms: those of a column count the rows that pass all other filters.

import { button, count, fill, make, written } from "./dom";
import type { Column, State } from "./types";

const BINS = 40, MISSING = 255, WIDTH = 400, HEIGHT = 46, RATIO = 2; // pixels of a histogram; the page stretches it

// A column with its filter. `bin` is a row's category or bar; `out` is 1 where the filter of this column takes a row away.
interface Facet {
  column: Column;
  at: number;
  size: number; // bars, or categories and one more for missing entries
  low: number;
  width: number; // of a bar
  step: number; // of the sliders
  range: [number, number] | null;
  off: Set<number>;
  values: Float32Array | null;
  bin: Uint8Array;
  all: Uint32Array;
  now: Uint32Array;
  out: Uint8Array | null;
  box: HTMLDetailsElement;
  redraw: () => void;
}

// 1, 2 or 5 times a power of ten, at most `width`.
export function niceStep(width: number): number {
  const power = 10 ** Math.floor(Math.log10(width)), share = width / power;
  return power * (share >= 5 ? 5 : share >= 2 ? 2 : 1);
}

// Bars of a column of numbers: one for each value where the values are few whole numbers, 40 otherwise.
export function bars(values: Float32Array, low: number, high: number): { size: number; low: number; width: number; step: number } {
  if (!(high > low)) return { size: 1, low: low - 0.5, width: 1, step: 1 };
  let whole = Number.isInteger(low) && Number.isInteger(high);
  for (let i = 0; whole && i < values.length; i++) whole = Number.isNaN(values[i]) || Number.isInteger(values[i]);
  if (whole && high - low < 60) return { size: high - low + 1, low: low - 0.5, width: 1, step: 1 };
  const step = niceStep((high - low) / 200);
  return { size: BINS, low, width: (high - low) / BINS, step: whole ? Math.max(1, step) : step };
}

export const shown = (value: number, column: Column): string =>
  column.date && Number.isFinite(value) ? new Date(864e5 * value).toISOString().slice(0, 10) : written(value);

export class Filters {
  passing: Uint8Array | null = null; // 1 for rows that pass; null while no filter is set
  hide = false;
  private facets: Facet[] = [];
  private failing = new Uint8Array();
  private n = 0;
  private signature = "";
  private waiting = false;
  private head = make("div", { class: "tools wrap" });
  private more = make("details");
  private colours: Record<string, string> = {};

  constructor(private box: HTMLElement, private values: (at: number) => Promise<Float32Array>, private onchange: () => void, private select: (rows: number[]) => void) {}

  passes(row: number): boolean { return !this.passing || this.passing[row] === 1; }
  get count(): number {
    let sum = this.passing ? 0 : this.n;
    if (this.passing) for (let i = 0; i < this.n; i++) sum += this.passing[i];
    return sum;
  }

  get active(): boolean { return this.passing !== null; }

  // Columns of a new state; filters of columns that are still there stay.
  take(state: State, fresh: boolean): void {
    const signature = JSON.stringify([state.rows, state.columns]);
    if (signature === this.signature && !fresh) return;
    this.signature = signature;
    const before = new Map(this.facets.map((one) => [`${one.column.kind} ${one.column.name}`, one]));
    this.n = state.rows;
    this.failing = new Uint8Array(this.n);
    this.facets = state.columns.map((column, at) => this.facet(column, at, before.get(`${column.kind} ${column.name}`)));
    const own = this.facets.filter(({ column }) => !column.feature || column.name === state.reliability.column), features = this.facets.filter((one) => !own.includes(one));
    if (!this.facets.length) return fill(this.box, make("p", { class: "note" }, "There are no columns to filter by."));
    const open = this.more.open || !own.length || features.length < 4;
    this.more = make("details", { class: "facet-box", open }, make("summary", {}, count(features.length, "feature")), make("div", { class: "facets" }, ...features.map((one) => one.box)));
    fill(this.box, this.head, ...own.map((one) => one.box), ...(features.length ? [this.more] : []));
    this.settle();
  }

  // Light and dark.
  repaint(): void { this.settle(); }

  clear(): void {
    for (const one of this.facets) { one.range = null; one.off.clear(); one.out = null; }
    this.settle();
  }

  // Set by the page or by a test: a range of a column of numbers, or the categories that are switched off.
  async set(name: string, filter: { range?: [number, number] | null; off?: number[] }): Promise<void> {
    const one = this.facets.find(({ column }) => column.name === name)!;
    if (!one.values) await this.load(one);
    if (filter.range !== undefined) one.range = filter.range;
    if (filter.off) one.off = new Set(filter.off);
    this.sift(one);
    this.settle();
  }

  private facet(column: Column, at: number, before: Facet | undefined): Facet {
    const body = make("div", { class: "facet" }), title = make("summary", {}, column.name);
    const box = make("details", { class: "facet-box" }, title, body) as HTMLDetailsElement;
    const one: Facet = { column, at, size: 0, low: 0, width: 1, step: 1, range: before?.range ?? null, off: before?.off ?? new Set(), values: null,
      bin: new Uint8Array(), all: new Uint32Array(), now: new Uint32Array(), out: null, box, redraw: () => {} };
    box.addEventListener("toggle", () => { if (box.open && !one.values) void this.load(one).then(() => this.settle()); });
    if (before?.box.open || one.range || one.off.size) { box.open = before?.box.open ?? false; void this.load(one).then(() => { this.sift(one); this.settle(); }); }
    return one;
  }

  private async load(one: Facet): Promise<void> {
    const values = await this.values(one.at), { column } = one, body = one.box.querySelector<HTMLElement>(".facet")!;
    if (column.kind === "categories") one.size = (column.levels ?? []).length + 1;
    else Object.assign(one, bars(values, column.period ? 0 : column.low ?? 0, column.period ?? column.high ?? 1));
    one.bin = new Uint8Array(this.n);
    for (let i = 0; i < this.n; i++) {
      const value = values[i];
      one.bin[i] = column.kind === "categories" ? (value < 0 ? one.size - 1 : value)
        : Number.isNaN(value) ? MISSING : Math.min(one.size - 1, Math.max(0, Math.floor((value - one.low) / one.width)));
    }
    one.all = new Uint32Array(256);
    for (let i = 0; i < this.n; i++) one.all[one.bin[i]]++;
    one.values = values;
    one.redraw = column.kind === "categories" ? this.checks(one, body) : this.histogram(one, body);
  }

  // Which rows the filter of one column takes away. Values are 32-bit floats: the ends are rounded as they are, so that no row is lost at them.
  private sift(one: Facet): void {
    const { range, off, values, bin } = one;
    if (!values || (!range && !off.size)) { one.out = null; return; }
    const out = new Uint8Array(this.n);
    const [low, high] = (range ?? []).map(Math.fround);
    if (range) for (let i = 0; i < this.n; i++) out[i] = values[i] >= low && values[i] <= high ? 0 : 1;
    else for (let i = 0; i < this.n; i++) out[i] = off.has(bin[i]) ? 1 : 0;
    one.out = out;
  }

  // Counts again what passes, here and in the histograms that are open.
  private settle(): void {
    const active = this.facets.filter((one) => one.out), { failing } = this, style = getComputedStyle(this.box);
    for (const name of ["accent", "line", "veil"]) this.colours[name] = style.getPropertyValue(`--${name}`); // once: asking styles between changes is slow
    failing.fill(0);
    for (const { out } of active) for (let i = 0; i < this.n; i++) failing[i] += out![i];
    this.passing = null;
    if (active.length) {
      this.passing = new Uint8Array(this.n);
      for (let i = 0; i < this.n; i++) this.passing[i] = failing[i] ? 0 : 1;
    }
    for (const one of this.facets) {
      const set = one.out !== null, said = one.range ? `${shown(one.range[0], one.column)} to ${shown(one.range[1], one.column)}` : one.off.size ? `${one.size - one.off.size - (one.all[one.size - 1] || one.column.kind === "numbers" ? 0 : 1)} chosen` : "";
      fill(one.box.querySelector("summary")!, one.column.name, ...(set ? [make("span", { class: "chosen" }, said)] : []));
      if (!one.values || !one.box.open) continue;
      one.now = this.active ? counted(one.bin, failing, one.out) : one.all;
      one.redraw();
    }
    this.describe();
    this.tell();
  }

  private describe(): void {
    const hide = make("input", { type: "checkbox", checked: this.hide, onchange: (event: Event) => { this.hide = (event.target as HTMLInputElement).checked; this.tell(); } });
    fill(this.head, make("span", { class: "note", id: "passing", role: "status" }, this.active ? `${this.count.toLocaleString("en")} of ${count(this.n, "row")} pass` : "No filter is set."),
      ...(this.active ? [make("label", { class: "note" }, hide, " hide the others"),
        button("Select them", () => this.select([...this.passing!.keys()].filter((row) => this.passing![row])), { disabled: !this.count, "aria-label": "Select the rows that pass" }), button("Clear filters", () => this.clear())] : []));
  }

  // The map is told at most once a frame.
  private tell(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.onchange(); });
  }

  private checks(one: Facet, body: HTMLElement): () => void {
    const levels = [...(one.column.levels ?? []), ...(one.all[one.size - 1] ? ["(missing)"] : [])];
    const set = (change: () => void) => { change(); this.sift(one); this.settle(); };
    const lines = levels.map((level, k) => {
      const box = make("input", { type: "checkbox", onchange: () => set(() => { if (box.checked) one.off.delete(k); else one.off.add(k); }) });
      const counted = make("span", { class: "counted" }), bar = make("span", { class: "count-bar" });
      return { box, counted, bar, line: make("li", {}, make("label", { title: level }, box, make("span", { class: "level" }, level)), bar, counted) };
    });
    const every = button("All", () => set(() => one.off.clear()), { class: "small", "aria-label": `All of ${one.column.name}` });
    const none = button("None", () => set(() => { one.off = new Set(levels.keys()); }), { class: "small", "aria-label": `None of ${one.column.name}` });
    fill(body, make("div", { class: "tools" }, every, none),
      make("ul", { class: "levels", ...(levels.length > 8 ? { tabIndex: 0 } : {}), "aria-label": `Categories of ${one.column.name}` }, ...lines.map(({ line }) => line)));
    return () => {
      const most = Math.max(1, ...one.now.subarray(0, one.size));
      lines.forEach(({ box, counted, bar, line }, k) => {
        box.checked = !one.off.has(k);
        counted.textContent = one.now[k].toLocaleString("en");
        bar.style.setProperty("--share", `${(100 * one.now[k]) / most}%`);
        line.classList.toggle("empty", !one.now[k]);
      });
    };
  }

  private histogram(one: Facet, body: HTMLElement): () => void {
    const { column } = one, low = column.period ? 0 : column.low ?? 0, high = column.period ?? column.high ?? 1;
    const canvas = make("canvas", { class: "histogram", role: "img", width: RATIO * WIDTH, height: RATIO * HEIGHT });
    const set = (range: [number, number]) => { one.range = range[0] <= low && range[1] >= high ? null : range; this.sift(one); this.settle(); };
    const slider = (which: 0 | 1) => make("input", { type: "range", min: String(low), max: String(high), step: "any", "aria-label": `${column.name}: ${which ? "largest" : "smallest"} value`,
      oninput: (event: Event) => {
        const now: [number, number] = one.range ? [...one.range] : [low, high], value = Number((event.target as HTMLInputElement).value);
        now[which] = rounded(value);
        set(which ? [Math.min(now[0], now[1]), now[1]] : [now[0], Math.max(now[0], now[1])]);
      },
      onkeydown: (event: Event) => {
        const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[(event as KeyboardEvent).key];
        if (!by) return;
        event.preventDefault();
        const now: [number, number] = one.range ? [...one.range] : [low, high];
        now[which] = Math.min(high, Math.max(low, rounded(now[which] + by * one.step)));
        set(which ? [Math.min(now[0], now[1]), now[1]] : [now[0], Math.max(now[0], now[1])]);
      } });
    const rounded = (value: number) => (value <= low ? low : value >= high ? high : Number((Math.round(value / one.step) * one.step).toPrecision(12)));
    const sliders = [slider(0), slider(1)] as const, ends = [make("span"), make("span")], reset = button("All", () => { one.range = null; this.sift(one); this.settle(); }, { class: "small", "aria-label": `All values of ${column.name}` });
    let from: number | null = null;
    const valueAt = (event: PointerEvent) => { const box = canvas.getBoundingClientRect(); return low + Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * (high - low); };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); from = valueAt(event); });
    canvas.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const to = valueAt(event);
      if (Math.abs(to - from) > (high - low) / 100) set([rounded(Math.min(from, to)), rounded(Math.max(from, to))]);
    });
    for (const kind of ["pointerup", "pointercancel"] as const) canvas.addEventListener(kind, () => { from = null; });
    canvas.addEventListener("dblclick", () => reset.click());
    fill(body, canvas, make("div", { class: "sliders" }, ...sliders), make("div", { class: "ends" }, ends[0], reset, ends[1]));
    return () => {
      const range = one.range ?? [low, high];
      sliders.forEach((input, which) => { input.value = String(range[which]); input.setAttribute("aria-valuetext", shown(range[which], column)); });
      ends.forEach((end, which) => { end.textContent = shown(range[which], column); });
      reset.disabled = !one.range;
      const left = one.all[MISSING] && !one.range ? `, ${count(one.all[MISSING], "row")} without a value` : "";
      canvas.setAttribute("aria-label", `Histogram of ${column.name} from ${shown(low, column)} to ${shown(high, column)}${left}`);
      paintBars(canvas, one, range, [low, high], this.colours);
    };
  }
}

// Rows in each bar that all filters but `own` let pass.
function counted(bin: Uint8Array, failing: Uint8Array, own: Uint8Array | null): Uint32Array {
  const now = new Uint32Array(256), n = bin.length;
  if (own) { for (let i = 0; i < n; i++) if (failing[i] === own[i]) now[bin[i]]++; }
  else for (let i = 0; i < n; i++) if (!failing[i]) now[bin[i]]++;
  return now;
}

// Bars of all rows in grey and of those that pass in colour, each to its own height, so that shapes can be compared.
function paintBars(canvas: HTMLCanvasElement, one: Facet, range: [number, number], ends: [number, number], colours: Record<string, string>): void {
  const width = WIDTH, context = canvas.getContext("2d")!;
  context.setTransform(RATIO, 0, 0, RATIO, 0, 0);
  context.clearRect(0, 0, width, HEIGHT);
  const most = [one.all, one.now].map((counts) => Math.max(1, ...counts.subarray(0, one.size)));
  const place = (value: number) => (ends[1] > ends[0] ? (width * (value - ends[0])) / (ends[1] - ends[0]) : value < ends[0] ? 0 : width);
  [one.all, one.now].forEach((counts, which) => {
    context.fillStyle = which ? colours.accent : colours.line;
    for (let k = 0; k < one.size; k++) {
      if (!counts[k]) continue;
      const a = (width * k) / one.size, b = (width * (k + 1)) / one.size, tall = Math.max(1.5, (HEIGHT * counts[k]) / most[which]);
      context.fillRect(a + (which ? 0.5 : 0), HEIGHT - tall, Math.max(1, b - a - (which ? 1 : 0)), tall);
    }
  });
  context.fillStyle = colours.veil;
  context.fillRect(0, 0, place(range[0]), HEIGHT);
  context.fillRect(place(range[1]), 0, width - place(range[1]), HEIGHT);
}
