// A walk over the map: what the model makes of the places along a path, as a film strip, lines or a small table.

import { picture } from "./card";
import { css, ofNumber } from "./colours";
import { button, fill, make, ofFeature } from "./dom";
import type { Decoded, State } from "./types";
import type { Asks } from "./values";

type Place = [number, number];
const STEPS = 12, LISTED = 14;
const SCALE = { name: "", feature: false, kind: "numbers" as const, low: 0, high: 1 };

// Places along a path, equally far apart, the ends included.
export function evenly(path: Place[], many: number): Place[] {
  const far = [0];
  for (let k = 1; k < path.length; k++) far.push(far[k - 1] + Math.hypot(path[k][0] - path[k - 1][0], path[k][1] - path[k - 1][1]));
  const whole = far[far.length - 1];
  if (!(whole > 0)) return [path[0]];
  let at = 1;
  return Array.from({ length: many }, (_, k) => {
    const goal = (whole * k) / (many - 1);
    while (at < path.length - 1 && far[at] < goal) at++;
    const share = far[at] > far[at - 1] ? (goal - far[at - 1]) / (far[at] - far[at - 1]) : 0, [a, b] = [path[at - 1], path[at]];
    return [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])];
  });
}

export class Walk {
  path: Place[] = [];
  steps: Decoded[] = [];
  places: Place[] = [];
  private asking = false;
  private later = false;
  private begun = 0;

  // `body` says of places what the server needs to know: axes, given, the row they begin at.
  constructor(private box: HTMLElement, private asks: Asks, private tried: (work: () => Promise<void>) => Promise<void>, private state: () => State,
    private body: (places: Place[]) => object, private on: { drawn: () => void; at: (place: Place) => void }) {}

  get end(): Place | null { return this.path.length ? this.path[this.path.length - 1] : null; }

  clear(): void { this.begun++; this.path = []; this.places = []; this.steps = []; this.box.hidden = true; fill(this.box); this.on.drawn(); }

  begin(place: Place): void { this.begun++; this.path = [place]; }

  // One step further; the strip follows as fast as answers come.
  to(place: Place): void {
    this.path.push(place);
    this.on.drawn();
    void this.look();
  }

  // The same path, under another value of what is given.
  async again(): Promise<void> { if (this.path.length > 1) await this.look(); }

  private async look(): Promise<void> {
    if (this.asking) { this.later = true; return; }
    this.asking = true;
    try {
      do {
        this.later = false;
        const places = evenly(this.path, STEPS), begun = this.begun;
        if (places.length < 2) return;
        await this.tried(async () => {
          const { steps } = await this.asks.post<{ steps: Decoded[] }>("walk", this.body(places));
          if (begun === this.begun) { this.places = places; this.steps = steps; this.show(); }
        });
      } while (this.later);
    } finally { this.asking = false; }
  }

  private show(): void {
    const state = this.state(), guess = this.steps.filter((one) => one.typicality !== null && one.typicality < 0.01).length;
    const shown = state.image ? this.film(state, state.image) : state.features.length > LISTED ? this.lines(state) : this.small(state);
    this.box.hidden = false;
    fill(this.box, make("div", { class: "tools" }, make("span", { class: "note", role: "status" }, `A walk in ${this.steps.length} steps${guess ? `, ${guess} of them where no rows are near` : ""}`),
      button("Close", () => this.clear(), { "aria-label": "Close the walk", class: "small" })), shown);
    this.on.drawn();
  }

  private film(state: State, shape: [number, number]): HTMLElement {
    return make("div", { class: "film" }, ...this.steps.map((one, k) => {
      const frame = button("", () => this.on.at(this.places[k]), { "aria-label": `Step ${k + 1}`, class: one.typicality !== null && one.typicality < 0.01 ? "frame guess" : "frame" });
      frame.append(picture(one.values!, shape, state.range, `${k + 1}`));
      return frame;
    }));
  }

  private lines(state: State): HTMLElement {
    const [width, height] = [640, 120], canvas = make("canvas", { width, height, class: "profile", role: "img", "aria-label": "Values of all features: a line for each step, dark at the start" });
    const context = canvas.getContext("2d")!, all = this.steps.flatMap((one) => one.values!).filter(Number.isFinite), d = state.features.length;
    const low = Math.min(...all), high = Math.max(...all), y = (value: number) => height - 4 - ((height - 8) * (value - low)) / (high - low || 1);
    this.steps.forEach((one, k) => {
      context.strokeStyle = css(ofNumber(SCALE, (0.9 * k) / Math.max(1, this.steps.length - 1)));
      context.lineWidth = 1.5;
      context.beginPath();
      one.values!.forEach((value, j) => context[j ? "lineTo" : "moveTo"]((width * (j + 0.5)) / d, y(value)));
      context.stroke();
    });
    return make("figure", {}, canvas, make("figcaption", {}, `${d} features, a line for each step: dark at the start, bright at the end`));
  }

  private small(state: State): HTMLElement {
    const every = [0, 2, 4, 7, 9, 11].filter((k) => k < this.steps.length);
    const moved = state.features.map((name, k) => {
      const values = this.steps.map((one) => one.values![k]), column = state.columns.find((one) => one.feature && one.name === name);
      return { name, k, by: (Math.max(...values) - Math.min(...values)) / ((column?.high ?? 1) - (column?.low ?? 0) || 1) };
    }).sort((a, b) => b.by - a.by).slice(0, 8);
    const head = make("tr", {}, make("th", { scope: "col" }, "step"), ...every.map((k) => make("th", { scope: "col" }, String(k + 1))));
    const lines = moved.map(({ name, k }) => make("tr", {}, make("th", { scope: "row", title: name }, name), ...every.map((step) => make("td", {}, ofFeature(this.steps[step].values![k], name, state.dates)))));
    const words = state.texts.map((name, k) => make("tr", {}, make("th", { scope: "row", title: name }, name), ...every.map((step) => make("td", {}, this.steps[step].texts?.[k] ?? "–"))));
    return make("div", { class: "scrolled", tabIndex: 0, role: "region", "aria-label": "Steps of the walk" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines, ...words)));
  }
}
