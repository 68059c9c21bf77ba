// The page: what its source says on one side, what the user does on the other. It lives in a document of its own or in a
// shadow root, so that two of them can be in one notebook.

import { Refusal, type Source } from "./api";
import { Asking } from "./asking";
import { card } from "./card";
import * as colours from "./colours";
import { button, copied, count, dated, fill, make, save, written } from "./dom";
import { first, GivenControls } from "./given";
import * as panels from "./panels";
import type { View } from "./kept";
import { Scatter, type Mode, type Tool } from "./scatter";
import { nameAxes, Telling } from "./telling";
import type { Column, Counterfactual, Decoded, Given, Job, Layer, Measures, Row, State, Summary } from "./types";

const DIM = 0.13, GHOST = 0.06;
const LAYERS: Record<string, string> = {
  density: "Shade: density of the rows", uncertainty: "Shade: uncertainty of the decoded values", reliability: "Shade: reliability of the rows, blue high and orange low",
};

export class Page {
  scatter: Scatter;
  answers: Asking;
  state!: State;
  axes: [number, number] = [0, 1];
  given: Given | null = null;
  selected = new Set<number>();
  other = new Set<number>(); // selection B
  onselect: (rows: number[]) => void = () => {}; // whoever holds the page hears of selections
  private column: Column | null = null;
  private values: Float32Array | null = null;
  private row: Row | null = null;
  private here: Decoded | null = null;
  private place: [number, number] | null = null;
  private asking = false;
  private asked: { place: [number, number]; row: number } | null = null;
  private code: "python" | "command" = "python";
  private question = 0;
  private previous = -1; // number of the map that was shown before this one
  private watching = false;
  private telling = new Telling(this);
  private controls: GivenControls;
  private changing = false; // the selection is shown with what is given
  private leave = new AbortController(); // ends what listens outside of the root

  // `root` holds the markup of index.html: a document, or a shadow root.
  constructor(readonly root: Document | ShadowRoot, readonly source: Source) {
    this.scatter = new Scatter(this.byId("stage"));
    this.answers = new Asking(this);
    this.controls = new GivenControls(this.byId("controls"), this, { moved: () => this.follows(false), chosen: () => this.follows(true) });
  }

  byId<T extends HTMLElement = HTMLElement>(id: string): T { return this.root.getElementById(id) as T; }

  // A page that was kept as a file opens as it was.
  async start(view?: View): Promise<void> {
    this.wire();
    if (view) [this.axes, this.given] = [[view.x, view.y], view.given];
    await this.take(await this.source.get<State>("state"), false);
    if (view) await this.tried(() => this.show(view));
    this.byId("stage").dataset.ready = "yes";
    const unwatch = this.source.watch(() => void this.watch());
    this.leave.signal.addEventListener("abort", unwatch);
    if (this.state.job.state === "running") void this.follow();
  }

  // What the page shows now; `show` shows it again.
  private view(): View {
    const colour = this.byId<HTMLSelectElement>("colour"), name = colour.value === "" ? null : this.state.columns[Number(colour.value)].name;
    return { colour: name, layer: this.byId<HTMLSelectElement>("layer").value, x: this.axes[0], y: this.axes[1], window: this.scatter.seen(), rows: this.rows(this.selected), others: this.rows(this.other), given: this.given };
  }

  private async show(view: View): Promise<void> {
    const colour = this.byId<HTMLSelectElement>("colour"), layer = this.byId<HTMLSelectElement>("layer"), at = this.state.columns.findIndex((one) => one.name === view.colour);
    colour.value = at < 0 ? "" : String(at);
    layer.value = this.state.can[view.layer] ? view.layer : "";
    this.other = new Set(view.others);
    if (view.rows.length + view.others.length) this.select(view.rows, "replace"); else await this.recolour();
    await this.relayer();
    if (view.window) this.scatter.see(view.window);
  }

  private async keep(): Promise<void> {
    this.say("Writing one file of this view …");
    const page = await this.source.postForBytes("page", { view: this.view() });
    save(page, "text/html", `${this.state.title.replace(/[^\p{L}\p{N} _-]+/gu, "_").trim() || "map"}.html`);
    this.say(`One file of this view, ${(page.byteLength / 1e6).toFixed(1)} MB: it works without a server and without a network.`);
  }

  // The page is taken away: nothing asks or listens any more.
  end(): void { this.leave.abort(); this.scatter.end(); }

  // Where the variables of the style sheet are.
  get style(): CSSStyleDeclaration { return getComputedStyle(this.byId("stage")); }

  // A new state: points are fetched where the map is another one.
  async take(state: State, moving = true): Promise<void> {
    const before = this.state as State | undefined;
    const another = !before || before.maps[before.current]?.number !== state.maps[state.current].number;
    if (another && before) this.previous = before.maps[before.current]?.number ?? -1;
    this.state = state;
    if (another) this.given = this.given0(state);
    if (another || JSON.stringify(before.moved) !== JSON.stringify(state.moved)) {
      await this.answers.show(moving);
      this.row = this.here = null;
      if (this.scatter.marked >= 0) this.hover([this.scatter.points[2 * this.scatter.marked], this.scatter.points[2 * this.scatter.marked + 1]], this.scatter.marked);
    }
    nameAxes(this.byId("stage"), this.answers.space ? [] : state.axes, this.axes);
    this.answers.take(state, another);
    this.fillControls();
    this.fillLists();
    await this.recolour();
    if (another) { void this.relayer(); void this.remeasure(); this.redescribe(); this.say(state.remarks.join(" ")); }
    else if (JSON.stringify(before.statements) !== JSON.stringify(state.statements)) void this.remeasure();
  }

  async act(path: string, said: unknown = {}): Promise<void> { await this.tried(async () => this.take(await this.source.post<State>(path, said))); }

  async tried(work: () => Promise<void>): Promise<void> {
    try { await work(); } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(error.message, true);
    }
  }

  say(text: string, warn = false): void {
    const notice = this.byId("notice");
    notice.textContent = text;
    notice.hidden = !text;
    notice.classList.toggle("warn", warn);
  }

  // ---- the map

  private wire(): void {
    const tools: [Tool, string][] = [["move", "Move"], ["lasso", "Lasso"], ["box", "Box"], ["walk", "Walk"], ["drag", "Drag rows"]];
    fill(this.byId("tools"), ...tools.map(([tool, text]) => make("label", { class: "tool" },
      make("input", { type: "radio", name: "tool", value: tool, checked: tool === "move", onchange: () => { this.scatter.tool = tool; this.byId("stage").dataset.tool = tool; } }), text)));
    this.byId("zoom-in").onclick = () => this.scatter.zoom(1.5);
    this.byId("zoom-out").onclick = () => this.scatter.zoom(1 / 1.5);
    this.byId("zoom-all").onclick = () => this.scatter.all();
    this.byId("undo").onclick = () => void this.act("undo");
    this.byId("redo").onclick = () => void this.act("redo");
    this.byId("save").onclick = () => void this.tried(async () => this.say(`Written: ${(await this.source.post<{ written: string[] }>("save")).written.join(", ")}`));
    this.byId("report").onclick = () => void this.tried(async () => {
      this.say("Writing the report …");
      this.say(`Written: ${(await this.source.post<{ written: string[] }>("report")).written.join(", ")}`);
    });
    this.byId("keep").onclick = () => void this.tried(() => this.keep());
    this.byId<HTMLSelectElement>("colour").onchange = () => { this.values = null; void this.tried(() => this.recolour()); };
    this.byId<HTMLSelectElement>("layer").onchange = () => void this.tried(() => this.relayer());
    this.scatter.onhover = (place, row) => this.hover(place, row);
    this.scatter.onselect = (rows, mode) => this.select(rows, mode, "selection");
    this.scatter.dragged = () => this.selected;
    this.scatter.picked = (row) => this.selected.has(row);
    this.scatter.ondrag = (shift) => this.carry(shift);
    this.scatter.onclear = () => { this.answers.walk.clear(); this.select([], "replace"); };
    const { signal } = this.leave;
    this.root.addEventListener("keydown", (found) => {
      const event = found as KeyboardEvent, typing = event.target instanceof HTMLInputElement && event.target.type === "text";
      const key = event.key.toLowerCase();
      if ((key === "z" || key === "y") && (event.ctrlKey || event.metaKey) && !typing) { event.preventDefault(); void this.act(key === "y" || event.shiftKey ? "redo" : "undo"); }
    }, { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.answers.filters.repaint(); void this.tried(() => this.relayer()); }, { signal });
    (this.byId("stage") as HTMLElement & { page?: Page }).page = this;
  }

  hover(place: [number, number], row: number): void {
    this.place = place;
    this.scatter.mark(row);
    this.answers.table.mark(row);
    this.asked = { place, row };
    if (!this.asking) void this.tried(() => this.ask());
  }

  // One question at a time; the pointer's last place wins.
  private async ask(): Promise<void> {
    this.asking = true;
    try {
      while (this.asked) {
        const { place, row } = this.asked;
        this.asked = null;
        const body = this.answers.where(place, row);
        const own = row < 0 ? Promise.resolve(null) : this.row?.row === row ? Promise.resolve(this.row) : this.source.get<Row>(`row?at=${row}`);
        [this.row, this.here] = await Promise.all([own, this.state.can.decode ? this.source.post<Decoded>("decode", body) : Promise.resolve(null)]);
        fill(this.byId("here"), card(this.state, this.row, this.here, this.style));
      }
    } finally { this.asking = false; }
  }

  async recolour(): Promise<void> {
    const select = this.byId<HTMLSelectElement>("colour"), at = Number(select.value), n = this.state.rows;
    if (select.value === "judge") return this.answers.judge();
    this.column = select.value === "" ? null : this.state.columns[at];
    if (this.column) this.values = await this.answers.values.of(`column?at=${at}`);
    const rgb = colours.ofRows(this.column, this.values, n), rgba = new Uint8Array(4 * n), picked = this.selected.size + this.other.size > 0;
    const { passing, hide } = this.answers.filters, solid = n > 20000 ? 0.75 : 0.92;
    for (let i = 0; i < n; i++) {
      const ghost = passing !== null && !passing[i];
      for (let k = 0; k < 3; k++) rgba[4 * i + k] = ghost ? colours.MISSING[k] : rgb[3 * i + k];
      rgba[4 * i + 3] = ghost ? (hide ? 0 : 255 * GHOST) : 255 * (!picked || this.selected.has(i) ? solid : this.other.has(i) ? 0.55 : DIM);
    }
    this.scatter.colours(rgba);
    this.fillLegend();
  }

  private fillLegend(): void {
    const column = this.column, layer = this.byId<HTMLSelectElement>("layer"), meaning = layer.disabled ? undefined : LAYERS[layer.value];
    const below = meaning ? [make("span", { class: "swatch layer" }, meaning)] : [];
    if (!column) return fill(this.byId("legend"), ...below);
    const swatch = (colour: colours.Rgb, text: string): HTMLElement => {
      const dot = make("span", { class: "dot" });
      dot.style.background = colours.css(colour);
      return make("span", { class: "swatch" }, dot, text);
    };
    if (column.kind === "categories") return fill(this.byId("legend"), ...(column.legend ?? column.levels ?? []).map((level, k) => swatch(colours.ofLevel(k), level)), ...below);
    const low = column.period ? 0 : column.low ?? 0, high = column.period ?? column.high ?? 1;
    fill(this.byId("legend"), ...[0, 0.25, 0.5, 0.75, 1].map((share) => swatch(colours.ofNumber(column, low + share * (high - low)), (column.date ? dated : written)(low + share * (high - low)))), ...below);
  }

  async relayer(): Promise<void> {
    const kind = this.byId<HTMLSelectElement>("layer").value, extent = this.scatter.window();
    this.fillLegend();
    if (!kind || this.answers.space) return this.scatter.setLayer(null, "");
    if (kind === "reliability" && this.state.reliability.state !== "done") return this.answers.judge();
    const said = { kind, extent, given: this.given, x: this.axes[0], y: this.axes[1] }, colour = (name: string) => this.style.getPropertyValue(name);
    this.scatter.setLayer(await this.source.post<Layer>("layer", said), colour(kind === "uncertainty" ? "--doubt" : "--density"), colour(kind === "density" ? "--density" : "--doubt"));
  }

  // ---- given

  private given0(state: State): Given | null {
    const kept: Given = {};
    for (const one of state.controls) kept[one.name] = this.given?.[one.name] ?? first(one);
    return state.controls.length && this.given ? kept : null;
  }

  private fillControls(): void {
    const state = this.state, colour = this.byId<HTMLSelectElement>("colour"), kept = colour.options[colour.selectedIndex]?.text;
    const option = (value: string, text: string, chosen: boolean) => make("option", { value, selected: chosen }, text);
    const wanted = kept === undefined && state.columns.length && !state.columns[0].feature ? state.columns[0].name : kept;
    fill(colour, option("", "none", false), ...state.columns.map((one, at) => option(String(at), one.name, one.name === wanted)),
      ...(state.can.reliability && state.reliability.state !== "done" ? [option("judge", state.reliability.column, state.reliability.column === wanted)] : []));
    const layer = this.byId<HTMLSelectElement>("layer"), now = layer.value;
    fill(layer, option("", "none", now === ""), ...["density", "uncertainty", "reliability"].filter((kind) => state.can[kind]).map((kind) => option(kind, kind, now === kind)));
    this.offer(["undo", "redo"]);
    layer.disabled = this.answers.space !== null; // a layer is a plane
    for (const [tool, offered] of [["walk", state.can.decode], ["drag", state.say.move]] as const) this.byId("tools").querySelector<HTMLElement>(`label:has([value=${tool}])`)!.hidden = !offered;
    for (const id of ["undo", "redo", "save", "report", "keep"]) this.byId(id).hidden = state.kept !== undefined;
    this.fillAxes();
    this.controls.take(state.controls);
  }

  // Buttons that can be pressed now; where the one that had the keyboard's focus cannot, its neighbour has it.
  private offer(names: string[]): void {
    const buttons = names.map((name) => this.byId<HTMLButtonElement>(name)), held = buttons.find((one) => one === this.root.activeElement);
    buttons.forEach((one, k) => { one.disabled = !this.state.can[names[k]]; });
    if (held?.disabled) buttons.find((one) => !one.disabled)?.focus();
  }

  fillAxes(): void {
    if (this.state.dims <= 2) return;
    const deep = this.answers.axisChoice();
    const choice = (which: 0 | 1) => make("select", { "aria-label": which ? "Vertical axis" : "Horizontal axis", onchange: (event: Event) => {
      const axis = Number((event.target as HTMLSelectElement).value);
      this.axes = which ? [this.axes[0], axis] : [axis, this.axes[1]];
      if (this.axes[0] !== this.axes[1]) void this.tried(async () => { nameAxes(this.byId("stage"), this.state.axes, this.axes); await this.answers.show(true); await this.relayer(); });
    } }, ...Array.from({ length: this.state.dims }, (_, k) => make("option", { value: String(k), selected: this.axes[which] === k }, `z${k + 1}`)));
    fill(this.byId("axes"), ...(deep ? [deep] : []), ...(this.answers.space ? [] : ["Axes ", choice(0), choice(1)]));
  }

  // What is shown follows what is chosen: the place at once, layers, walk and counterfactuals when it rests.
  private follows(rest: boolean): void {
    if (this.place) this.hover(this.place, this.scatter.marked);
    if (!rest) return;
    void this.tried(async () => { await this.relayer(); await this.answers.walk.again(); });
    if (this.selected.size) this.fillSelection();
  }

  // ---- selection

  select(wanted: number[], mode: Mode, scope?: "selection"): void {
    const rows = wanted.filter((row) => this.answers.filters.passes(row));
    if (mode === "replace") this.selected = new Set(rows);
    else for (const row of rows) { if (mode === "add") this.selected.add(row); else this.selected.delete(row); }
    for (const row of this.selected) this.other.delete(row);
    this.answers.table.rows(this.selected, (row) => this.answers.filters.passes(row), scope);
    void this.tried(() => this.recolour());
    this.fillSelection();
    this.onselect(this.rows(this.selected));
  }

  rows(of: Set<number>): number[] { return [...of].sort((a, b) => a - b); }

  private fillSelection(summary: HTMLElement | null = null): void {
    const box = this.byId("selection"), state = this.state;
    this.telling.fillSay();
    this.telling.fillStatements(); // a form there offers the selection
    if (!this.selected.size && !this.other.size) return fill(box, make("p", { class: "note" }, "Draw around rows with Lasso or Box (Shift adds, Alt removes), or mark a row with the keyboard and press Space."));
    const copy = () => this.copy(this.rows(this.selected).join(", "), "Row numbers copied.");
    const tools = [button("Clear", () => { this.other.clear(); this.select([], "replace"); }),
      button("Keep as B", () => { this.other = this.selected; this.select([], "replace"); }, { disabled: !this.selected.size }),
      button("CSV", () => void this.tried(() => this.download("csv", "csv")), { disabled: !this.selected.size, "aria-label": "Download the selection as CSV" }),
      ...(state.kept ? [] : [button("Parquet", () => void this.tried(() => this.download("parquet", "parquet")), { disabled: !this.selected.size, "aria-label": "Download the selection as Parquet" })]),
      button("Numbers", () => void this.tried(() => this.download("numbers", "txt")), { disabled: !this.selected.size, "aria-label": "Download the row numbers of the selection as text" }),
      button("Copy numbers", copy, { disabled: !this.selected.size })];
    if (state.can.counterfactual && this.given && this.selected.size) tools.push(button("Show as given above", () => { this.changing = !this.changing; this.fillSelection(); }, { "aria-pressed": String(this.changing) }));
    const size = make("p", { id: "selected" }, `A: ${count(this.selected.size, "row")}${this.other.size ? `, B: ${count(this.other.size, "row")}` : ""}`);
    fill(box, size, make("div", { class: "tools wrap" }, ...tools), summary ?? make("p", { class: "note" }, "…"));
    if (!summary && this.selected.size) { if (this.changing && this.given) void this.tried(() => this.change()); else this.redescribe(); }
  }

  private redescribe(): void {
    if (!this.selected.size) return;
    const asked = ++this.question, others = this.rows(this.other);
    void this.tried(async () => {
      const found = await this.source.post<Summary>("summary", { rows: this.rows(this.selected), others: others.length ? others : null });
      if (asked === this.question) this.fillSelection(panels.summaryOf(this.state, found, others.length > 0));
    });
  }

  private async change(): Promise<void> {
    const asked = ++this.question, found = await this.source.post<Counterfactual>("counterfactual", { rows: this.rows(this.selected), given: this.given });
    if (asked === this.question) this.fillSelection(panels.changed(this.state, found));
  }

  private async download(format: string, ending: string): Promise<void> {
    save(await this.source.postForBytes("export", { rows: this.rows(this.selected), format }), "application/octet-stream", `selection.${ending}`);
  }

  // ---- statements

  chosen(): { A: number[]; B: number[] } { return { A: this.rows(this.selected), B: this.rows(this.other) }; }

  // The selection is moved by so much of the map's width.
  shift(right: number, up: number): void {
    const [left, end] = this.scatter.extent(), width = end - left;
    this.carry([right * width, up * width]);
  }

  private carry(shift: [number, number]): void {
    if (!this.selected.size) return this.say("Select the rows that should be elsewhere, then drag them.");
    const said = { rows: this.rows(this.selected), ...this.answers.shifted(shift) };
    void this.tried(async () => {
      await this.take(await this.source.post<State>("move", said));
      this.say(`${count(said.rows.length, "row")} moved. Re-fit holds them there, and the other rows find their places around them.`);
    });
  }

  private fillLists(): void {
    const state = this.state;
    this.byId("title").textContent = state.title;
    this.byId("about").textContent = panels.aboutOf(state);
    if (this.root === document) document.title = `${state.title}: Sidelight explorer`;
    this.telling.fillStatements();
    fill(this.byId("history"), ...panels.mapsOf(state, (at) => void this.act("visit", { at })));
    this.fillCode();
    this.fillRefit(state.job);
    this.telling.fillSay();
    if (!this.byId("selection").childElementCount) this.fillSelection();
    if (!this.byId("here").childElementCount) fill(this.byId("here"), card(state, null, null, this.style));
  }

  private fillCode(): void {
    fill(this.byId("code"), ...panels.codeOf(this.state, this.code, (which) => { this.code = which; this.fillCode(); }, (text) => this.copy(text, "Copied.")));
  }

  private copy(text: string, told: string): void { void copied(text).then((done) => this.say(done ? told : "This browser lets no page copy: mark the text and copy it.", !done)); }

  private async remeasure(): Promise<void> {
    const { current, maps } = this.state, last = maps.findIndex((one) => one.number === this.previous), at = last < 0 || last === current ? current - 1 : last;
    await this.tried(async () => {
      const [before, now] = await Promise.all([at < 0 ? Promise.resolve(null) : this.source.get<Measures>(`measures?map=${at}`), this.source.get<Measures>(`measures?map=${current}`)]);
      fill(this.byId("measures"), panels.measuresOf(before, now, at < 0 ? "" : `Map ${maps[at].number}`));
    });
  }

  // ---- fits

  private fillRefit(job: Job): void {
    if (this.state.kept) return fill(this.byId("refit"));
    const box = this.byId("refit"), running = job.state === "running";
    if (running) {
      const { stage, stages, iteration } = job.progress, bar = make("progress", { max: stages ?? 1, "aria-label": "Progress of the fit" });
      if (stage) bar.value = stage - 1 + Math.min(0.9, (iteration ?? 0) / 100);
      const words = stage ? `stage ${stage} of ${stages}, iteration ${iteration}` : "starting";
      return fill(box, bar, make("p", { class: "note" }, `${job.seconds.toFixed(0)} s, ${words}`), button("Stop", () => void this.act("stop"), { id: "stop" }));
    }
    const parts: HTMLElement[] = [button("Re-fit", () => void this.tried(async () => { await this.take(await this.source.post<State>("refit")); await this.follow(); }), { class: "main", id: "start", disabled: this.state.fresh })];
    if (this.state.fresh) parts.push(make("p", { class: "note" }, "The map already shows every statement that is on."));
    if (job.state === "failed" || job.state === "stopped") parts.push(make("p", { class: "note warn", id: "job-message" }, job.message));
    fill(box, ...parts);
  }

  private async follow(): Promise<void> {
    for (;;) {
      const job = await this.source.get<Job>("job");
      if (this.leave.signal.aborted) return;
      if (job.state === "running") { this.fillRefit(job); await new Promise((resolve) => setTimeout(resolve, 250)); continue; }
      const at = this.root.activeElement, focused = this.byId("refit").contains(at);
      await this.take(await this.source.get<State>("state"));
      if (focused) (this.state.fresh ? this.byId("history").querySelector<HTMLElement>("[aria-current]") : this.byId("start"))?.focus();
      return;
    }
  }

  // Another tab, or Python, may have said something. One look at a time: a busy kernel answers late.
  private async watch(): Promise<void> {
    if (document.hidden || this.watching || this.state.job.state === "running") return;
    this.watching = true;
    try { await this.tried(async () => {
      const job = await this.source.get<Job>("job");
      if (job.version !== this.state.version) await this.take(await this.source.get<State>("state"));
      else if (job.state === "running") { this.state.job = job; await this.follow(); }
    }); } finally { this.watching = false; }
  }
}
