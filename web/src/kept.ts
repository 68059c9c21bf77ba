// A page that carries its answers: sections of deflated bytes in base64, written by sidelight.explorer._kept.

import type { Answer, Channel } from "./api";
import { apart, means } from "./apart";
import { dated } from "./dom";
import type { Decoded, Given, Layer, Measures, Row, State, Summary } from "./types";

interface Packed { section: string; kind: "codes" | "dictionary" | "float"; known: number }
interface Grid { side: number; extent: number[]; typicality: number[] | null; given: boolean }
interface Head {
  state: State;
  view: View;
  places: { low: number; step: number }[];
  columns: Packed[];
  rows: { names: boolean; values: "columns" | "bytes" | "steps" | "none"; low?: number | number[]; high?: number | number[] };
  after: { names: string[]; values: "rows" | "float" | "steps" | "none"; low?: number[]; high?: number[] }; // rows without the effect of what was given
  grid: Grid | null;
  layers: Record<string, Layer>;
  measures: Measures;
}
// What a page showed when it was kept.
export interface View { colour: string | null; layer: string; x: number; y: number; window: number[] | null; rows: number[]; others: number[]; given: Given | null }

const OFF = "This page is a file and has no model. Open the model with sidelight explore.";
const MISSING = 65535, STEPS = MISSING - 1;

async function inflated(text: string): Promise<ArrayBuffer> {
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let k = 0; k < packed.length; k++) bytes[k] = packed.charCodeAt(k);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

// The bytes of equal weight stand together; here they are beside each other again.
function joined(planes: ArrayBuffer, width: number): ArrayBuffer {
  const from = new Uint8Array(planes), n = from.length / width, out = new Uint8Array(from.length);
  for (let k = 0; k < width; k++) for (let i = 0, at = k * n; i < n; i++) out[i * width + k] = from[at + i];
  return out.buffer;
}

export class Kept implements Channel {
  private columns = new Map<number, Promise<Float32Array>>();
  private sections = new Map<string, Promise<ArrayBuffer>>();
  private constructor(private texts: Map<string, HTMLElement>, private head: Head) {}

  // The data of a document; null where there are none.
  static async of(page: Document): Promise<Kept | null> {
    const texts = new Map([...page.querySelectorAll<HTMLElement>("[data-kept]")].map((one) => [one.dataset.kept!, one]));
    const head = texts.get("head");
    if (!head) return null;
    return new Kept(texts, JSON.parse(new TextDecoder().decode(await inflated(head.textContent ?? ""))) as Head);
  }

  get view(): View { return this.head.view; }

  watch(): () => void { return () => {}; }

  async ask(method: string, path: string, said: unknown): Promise<Answer> {
    const [name, query] = path.split("?"), asked = new URLSearchParams(query), body = said as Record<string, never>;
    try {
      const found = await this.found(`${method} ${name}`, asked, body);
      if (found instanceof Float32Array) return { status: 200, bytes: found.buffer as ArrayBuffer };
      return { status: 200, bytes: encoded(typeof found === "string" ? found : JSON.stringify(found)) };
    } catch (error) {
      return { status: 400, bytes: encoded(JSON.stringify({ error: error instanceof Error ? error.message : OFF })) };
    }
  }

  private async found(asked: string, query: URLSearchParams, said: Record<string, never>): Promise<unknown> {
    switch (asked) {
      case "GET state": return this.head.state;
      case "GET job": return { ...this.head.state.job, version: this.head.state.version };
      case "GET measures": return this.head.measures;
      case "GET points": return this.points(["x", "y", "z"].filter((axis) => query.has(axis)).map((axis) => Number(query.get(axis))));
      case "GET column": return this.column(Number(query.get("at")));
      case "GET row": return this.row(Number(query.get("at")));
      case "GET ranks": return query.has("at") ? this.ranks(Number(query.get("at"))) : ordered(await this.rowNames());
      case "GET search": return this.search(query.get("text") ?? "");
      case "POST rows": return this.page(said.rows);
      case "POST walk": return { steps: await Promise.all((said.places as [number, number][]).map((place) => this.decode(place, said.given))) };
      case "POST decode": return this.decode(said.place, said.given);
      case "POST layer": return this.head.layers[said.kind] ?? refuse();
      case "POST summary": return this.summary(said.rows, said.others);
      case "POST export": return (said.format as string) === "numbers" ? (said.rows as number[]).map((row) => `${row}\n`).join("") : (said.format as string) === "parquet" ? refuse() : this.csv(said.rows);
      default: return refuse();
    }
  }

  private section(name: string): Promise<ArrayBuffer> {
    let found = this.sections.get(name);
    if (!found) {
      const element = this.texts.get(name);
      found = element ? inflated(element.textContent ?? "") : Promise.reject(new Error(OFF));
      this.sections.set(name, found);
      element?.remove(); // the text is not needed twice
    }
    return found;
  }

  private async points(axes: number[]): Promise<Float32Array> {
    const n = this.head.state.rows, width = axes.length, out = new Float32Array(width * n);
    for (const [k, axis] of axes.entries()) {
      const bytes = new Uint8Array(await this.section(`z${axis}`)), { low, step } = this.head.places[axis] ?? refuse();
      for (let i = 0; i < n; i++) {
        const code = bytes[i] | (bytes[n + i] << 8);
        out[width * i + k] = code === MISSING ? NaN : low + step * code;
      }
    }
    return out;
  }

  private column(at: number): Promise<Float32Array> {
    let found = this.columns.get(at);
    if (!found) this.columns.set(at, found = this.unpacked(this.head.columns[at] ?? refuse()));
    return found;
  }

  private async unpacked({ section, kind, known }: Packed): Promise<Float32Array> {
    if (kind === "float") return new Float32Array(joined(await this.section(section), 4));
    const bytes = await this.section(section), values = new Float32Array(bytes, 0, known), n = this.head.state.rows, out = new Float32Array(n);
    const codes = new Uint8Array(bytes, 4 * known);
    for (let i = 0; i < n; i++) {
      const code = codes[i] | (codes[n + i] << 8);
      out[i] = kind === "codes" ? (code === MISSING ? -1 : code) : code === MISSING ? NaN : values[code];
    }
    return out;
  }

  private async row(at: number): Promise<Row> {
    const { state } = this.head, columns: Record<string, unknown> = {}, byName = new Map<string, unknown>();
    for (const [k, one] of state.columns.entries()) {
      const value = (await this.column(k))[at], said = one.kind === "categories" ? one.levels?.[value] ?? null : value;
      if (one.feature) byName.set(one.name, said); else columns[one.name] = one.date && Number.isFinite(value) ? dated(value) : said;
    }
    const names = await this.rowNames();
    return { row: at, name: names[at] ?? "", columns, values: await this.values(at, byName), texts: state.texts.map((name) => (byName.get(name) as string | undefined) ?? null) };
  }

  private async rowNames(): Promise<string[]> {
    return (this.names ??= this.head.rows.names ? JSON.parse(new TextDecoder().decode(await this.section("names"))) as string[] : []);
  }

  // Numbers sort as they are; categories by their names.
  private async ranks(at: number): Promise<Float32Array> {
    const { kind, levels } = this.head.state.columns[at] ?? refuse(), values = await this.column(at), places = ordered(levels ?? []);
    return kind === "numbers" ? values : values.map((code) => (code < 0 ? NaN : places[code]));
  }

  private async search(text: string): Promise<Float32Array> {
    const wanted = text.trim().toLowerCase(), { state } = this.head, hit = new Uint8Array(state.rows), number = wanted.replace(/^row/, "").trim();
    if (/^\d+$/.test(number) && Number(number) < state.rows) hit[Number(number)] = 1;
    (await this.rowNames()).forEach((name, row) => { if (name.toLowerCase().includes(wanted)) hit[row] = 1; });
    for (const [at, one] of state.columns.entries()) {
      if (one.kind !== "categories") continue;
      const matching = (one.levels ?? []).map((level) => level.toLowerCase().includes(wanted)), codes = await this.column(at);
      if (matching.includes(true)) codes.forEach((code, row) => { if (matching[code]) hit[row] = 1; });
    }
    return Float32Array.from(hit.keys()).filter((row) => hit[row]);
  }

  private async page(rows: number[]): Promise<object> {
    const { columns } = this.head.state, names = await this.rowNames(), values = await Promise.all(columns.map((_, at) => this.column(at)));
    return { rows: rows.map((row) => ({ row, name: names[row] ?? "", cells: columns.map((one, at) => (one.kind === "categories" ? one.levels?.[values[at][row]] ?? null : Number.isNaN(values[at][row]) ? null : values[at][row])) })) };
  }

  private async values(at: number, byName: Map<string, unknown>): Promise<number[]> {
    const { state, rows } = this.head, d = state.features.length;
    if (rows.values === "columns") return state.features.map((name) => (byName.get(name) as number | undefined) ?? NaN);
    if (rows.values === "none") return [];
    const value = stepped(new Uint8Array(await this.section("rows")), rows.values === "bytes", state.rows * d, d, rows);
    return Array.from({ length: d }, (_, k) => value(at, k));
  }

  // Between four places of the grid.
  private async decode(place: [number, number], given: Given | null): Promise<Decoded> {
    const { grid, state } = this.head;
    if (!grid) return refuse();
    const { side, extent: [left, right, bottom, top] } = grid, u = ((place[0] - left) / (right - left)) * (side - 1), v = ((place[1] - bottom) / (top - bottom)) * (side - 1);
    if (!(u >= 0 && v >= 0 && u <= side - 1 && v <= side - 1)) return { values: null, typicality: 0 };
    const a = Math.min(side - 2, Math.floor(u)), b = Math.min(side - 2, Math.floor(v)), d = state.features.length;
    const control = state.controls[0], which = given && control ? 1 + (control.values ?? []).indexOf(String(given[control.name])) : 0;
    const corners = [[a, b], [a + 1, b], [a, b + 1], [a + 1, b + 1]].map(([x, y]) => y * side + x);
    const weights = [[1 - u + a, 1 - v + b], [u - a, 1 - v + b], [1 - u + a, v - b], [u - a, v - b]].map(([x, y]) => x * y);
    const at = await this.gridValues(which * side * side * d);
    const mixed = (of: (corner: number) => number) => corners.reduce((sum, corner, k) => sum + weights[k] * of(corner), 0);
    const values = Array.from({ length: d }, (_, k) => mixed((corner) => at(corner * d + k)));
    return { values, texts: [], typicality: grid.typicality ? mixed((corner) => grid.typicality![corner]) : null };
  }

  private async gridValues(start: number): Promise<(k: number) => number> {
    if (this.head.state.image) {
      const bytes = new Uint8Array(await this.section("grid")), [low, high] = this.head.state.range;
      return (k) => low + ((high - low) * bytes[start + k]) / 255;
    }
    const numbers = this.grid ??= new Float32Array(joined(await this.section("grid"), 4));
    return (k) => numbers[start + k];
  }
  private grid: Float32Array | null = null;
  private names: string[] | null = null;

  // Columns of a selection (the commonest values, or range and mean), and what sets it apart.
  private async summary(rows: number[], others: number[] | null): Promise<Summary> {
    const { state } = this.head, columns: Summary["columns"] = [];
    for (const [k, one] of state.columns.entries()) {
      if (one.feature) continue; // compared below
      const values = await this.column(k), own = rows.map((row) => values[row]);
      if (one.kind === "numbers") {
        const there = own.filter(Number.isFinite), [low, high, sum] = there.reduce(([a, b, c], x) => [Math.min(a, x), Math.max(b, x), c + x], [Infinity, -Infinity, 0]);
        if (there.length) columns.push({ name: one.name, range: [low, sum / there.length, high], date: one.date, values: [] });
      } else {
        const counts = new Map<number, number>();
        for (const value of own) if (value >= 0) counts.set(value, (counts.get(value) ?? 0) + 1);
        const common = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 5);
        columns.push({ name: one.name, values: common.map(([value, count]) => ({ value: one.levels?.[value] ?? "", count })) });
      }
    }
    const rest = others ?? without(state.rows, rows), found = { count: rows.length, others: rest.length, columns };
    const value = await this.compared();
    if (!value) return { ...found, features: [], unknown: true };
    const features = apart(state.features, value, rows, rest, without(state.rows, [])), d = state.features.length;
    return { ...found, features, after: this.head.after.names, ...(state.image && rest.length ? { here_mean: means(d, value, rows), there_mean: means(d, value, rest) } : {}) };
  }

  // Features of rows, after what was given, for comparisons; null where the file has none.
  private async compared(): Promise<((row: number, k: number) => number) | null> {
    const { state, rows, after } = this.head, d = state.features.length;
    if (after.values === "float") { const found = this.after ??= new Float32Array(joined(await this.section("after"), 4)); return (row, k) => found[row * d + k]; }
    if (after.values === "rows" && rows.values === "columns") {
      const columns = await Promise.all(state.features.map((name) => this.column(state.columns.findIndex((one) => one.feature && one.name === name))));
      return (row, k) => columns[k][row];
    }
    const own = after.values === "rows", kept = own ? rows : after;
    if (kept.values === "none") return null;
    return stepped(new Uint8Array(await this.section(own ? "rows" : "after")), kept.values === "bytes", state.rows * d, d, kept);
  }
  private after: Float32Array | null = null;

  private async csv(rows: number[]): Promise<string> {
    const { state } = this.head, places = await this.points([0, 1]), columns = await Promise.all(state.columns.map((_, k) => this.column(k)));
    const cell = (value: unknown): string => {
      const text = typeof value === "number" ? (Number.isNaN(value) ? "" : String(value)) : harmless(String(value ?? ""));
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [["row", "z1", "z2", ...state.columns.map((one) => one.name)], ...rows.map((row) => [row, places[2 * row], places[2 * row + 1],
      ...state.columns.map((one, k) => (one.kind === "categories" ? one.levels?.[columns[k][row]] ?? "" : one.date && Number.isFinite(columns[k][row]) ? dated(columns[k][row]) : columns[k][row]))])];
    return lines.map((line) => line.map(cell).join(",")).join("\n") + "\n";
  }
}

// The place of every text in their order.
function ordered(texts: string[]): Float32Array {
  const out = new Float32Array(texts.length);
  [...texts.keys()].sort((a, b) => (texts[a] < texts[b] ? -1 : texts[a] > texts[b] ? 1 : 0)).forEach((at, rank) => { out[at] = rank; });
  return out;
}

// Values (n rows of d features, `size` in all) in 8- or 16-bit steps between the ends of all, or of each feature.
function stepped(bytes: Uint8Array, small: boolean, size: number, d: number, ends: { low?: number | number[]; high?: number | number[] }): (row: number, k: number) => number {
  const each = (end: number | number[]): number[] => (typeof end === "number" ? new Array<number>(d).fill(end) : end);
  const low = each(ends.low!), span = each(ends.high!).map((high, k) => high - low[k]);
  if (small) return (row, k) => low[k] + (span[k] * bytes[row * d + k]) / 255;
  return (row, k) => { const at = row * d + k, code = bytes[at] | (bytes[size + at] << 8); return code === MISSING ? NaN : low[k] + (span[k] * code) / STEPS; };
}

// The numbers 0 to n - 1 without some.
function without(n: number, rows: number[]): number[] {
  const inside = new Uint8Array(n), out: number[] = [];
  for (const row of rows) inside[row] = 1;
  for (let row = 0; row < n; row++) if (!inside[row]) out.push(row);
  return out;
}

// A cell that no spreadsheet takes for a formula.
const harmless = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
const encoded = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer as ArrayBuffer;
function refuse(): never { throw new Error(OFF); }
