// What the page asks of its rows: filters, search, table, walk, three dimensions and reliability, and how they follow each other.

import type { Source } from "./api";
import { make } from "./dom";
import { Filters } from "./filters";
import type { Mode, Scatter } from "./scatter";
import { Search } from "./search";
import { Space } from "./space";
import { TableView } from "./table";
import type { Given, State } from "./types";
import { Values } from "./values";
import { Walk } from "./walk";

type Place = [number, number];

// What of the page is needed here.
export interface Host {
  state: State;
  readonly scatter: Scatter;
  readonly source: Source;
  axes: [number, number];
  given: Given | null;
  selected: Set<number>;
  byId<T extends HTMLElement = HTMLElement>(id: string): T;
  tried(work: () => Promise<void>): Promise<void>;
  say(text: string, warn?: boolean): void;
  select(rows: number[], mode: Mode, scope?: "selection"): void;
  hover(place: Place, row: number): void;
  take(state: State): Promise<void>;
  recolour(): Promise<void>;
  fillAxes(): void;
  relayer(): Promise<void>;
}

export class Asking {
  readonly values: Values;
  readonly filters: Filters;
  readonly search: Search;
  readonly table: TableView;
  readonly walk: Walk;
  space: Space | null = null;
  deep = true; // three dimensions are shown where there are three
  private judging = false;
  private labels = "";

  constructor(private host: Host) {
    const { source, scatter } = host, tried = (work: () => Promise<void>) => host.tried(work);
    this.values = new Values(source);
    this.filters = new Filters(host.byId("filters"), (at) => this.values.of(`column?at=${at}`), () => this.sifted(), (rows) => host.select(rows, "replace", "selection"));
    this.search = new Search(host.byId("find"), source, tried, (row) => this.filters.passes(row),
      { found: (rows) => scatter.ring(rows), go: (row) => this.go(row), select: (rows) => host.select(rows, "replace", "selection") });
    this.table = new TableView(host.byId("table"), source, (path) => this.values.of(path), tried,
      { mark: (row) => this.mark(row), select: (row, mode) => host.select([row], mode) });
    this.walk = new Walk(host.byId("walk"), source, tried, () => host.state, (places) => this.bodyOf(places),
      { drawn: () => scatter.follow(this.walk.path, this.walk.places), at: (place) => host.hover(place, -1) });
    scatter.allowed = (row) => this.filters.passes(row);
    scatter.onwalk = (place, first) => this.step(place, first);
    const open = host.byId<HTMLButtonElement>("table-open");
    open.onclick = () => { this.table.open = !this.table.open; open.setAttribute("aria-expanded", String(this.table.open)); };
  }

  // A new state; `another`: of another map.
  take(state: State, another: boolean): void {
    const labels = JSON.stringify(state.statements.filter((one) => one.kind === "label"));
    const fresh = another || labels !== this.labels || (labels !== "[]" && !another);
    this.labels = labels;
    if (fresh) this.values.forget();
    this.filters.take(state, fresh);
    this.table.take(state, fresh);
    if (another) this.walk.clear();
  }

  // The places of the rows on the page: two axes, or three seen from the front.
  async show(moving: boolean): Promise<void> {
    const { scatter, source, axes, state } = this.host;
    const turn = this.space?.turn;
    this.space = null;
    if (state.dims === 3 && this.deep) {
      this.space = new Space(await source.numbers("points?x=0&y=1&z=2"));
      if (turn) this.space.turn = turn;
    }
    scatter.onturn = this.space ? (right, down) => this.turn(right, down) : null;
    const points = this.space ? this.space.seen() : await source.numbers(`points?x=${axes[0]}&y=${axes[1]}`);
    scatter.show(points, moving, this.space?.drawing() ?? null);
  }

  // A place on the page as the server understands it.
  where(place: Place, row: number): object {
    const { axes, given } = this.host, beside = row < 0 ? null : row;
    if (this.space) return { place: this.space.lift(...place, row), row: beside, given, x: 0, y: 1, z: 2 };
    return { place, row: beside, given, x: axes[0], y: axes[1] };
  }

  // A move of rows on the page as the server understands it.
  shifted(shift: Place): object {
    const [x, y] = this.host.axes;
    return this.space ? { shift: this.space.direction(...shift), x: 0, y: 1, z: 2 } : { shift, x, y };
  }

  // Reliability is computed on demand, and becomes a column.
  async judge(): Promise<void> {
    if (this.judging) return;
    this.judging = true;
    try {
      let told = await this.host.source.post<State["reliability"]>("reliability");
      while (told.state === "running") {
        this.host.say(`Computing the reliability of each row: ${Math.round(told.seconds ?? 0)} s.`);
        await new Promise((resolve) => setTimeout(resolve, 200));
        told = await this.host.source.get<State["reliability"]>("reliability");
      }
      this.host.say(told.state === "failed" ? told.message ?? "" : "", true);
      if (told.state === "failed") this.host.byId<HTMLSelectElement>("colour").value = this.host.byId<HTMLSelectElement>("layer").value = "";
      await this.host.take(await this.host.source.get<State>("state"));
      if (told.state === "done") await this.host.relayer();
    } finally { this.judging = false; }
  }

  axisChoice(): HTMLElement | null {
    if (this.host.state.dims !== 3) return null;
    const redraw = () => void this.host.tried(async () => { await this.show(false); this.walk.clear(); this.host.fillAxes(); this.host.byId<HTMLSelectElement>("layer").disabled = this.space !== null; await this.host.relayer(); this.host.byId("deep").focus(); });
    return make("label", { class: "tool" }, make("input", { type: "checkbox", id: "deep", checked: this.deep, onchange: (event: Event) => { this.deep = (event.target as HTMLInputElement).checked; redraw(); } }), "3-D");
  }

  private mark(row: number): void {
    const { points } = this.host.scatter;
    this.host.hover([points[2 * row], points[2 * row + 1]], row);
  }

  private go(row: number): void { this.host.scatter.reveal(row); this.mark(row); }

  private sifted(): void {
    const { host } = this, kept = [...host.selected].filter((row) => this.filters.passes(row));
    if (kept.length < host.selected.size) host.select(kept, "replace");
    else void host.tried(() => host.recolour());
    this.table.rows(host.selected, (row) => this.filters.passes(row));
    void this.search.again();
  }

  private turn(right: number, down: number): void {
    if (!this.space) return;
    this.space.rotate(right, down);
    this.host.scatter.place(this.space.seen(), this.space.drawing());
  }

  private step(place: Place, first: boolean): void {
    if (first) { this.walk.clear(); this.walk.begin(place); }
    else this.walk.to(place);
    this.host.hover(place, this.host.scatter.near(place));
  }

  private bodyOf(places: Place[]): object {
    const { axes, given, scatter } = this.host, row = scatter.near(places[0]);
    if (this.space) return { places: places.map((place) => this.space!.lift(...place, row)), row: row < 0 ? null : row, given, x: 0, y: 1, z: 2 };
    return { places, row: row < 0 ? null : row, given, x: axes[0], y: axes[1] };
  }
}
