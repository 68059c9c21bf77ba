// What is given, as controls: a menu of categories, a slider of numbers, a dial of angles. They stay in the page while
// they are used, so that keyboard and pointer do not lose them.

import { button, fill, make, written } from "./dom";
import type { Control, Given } from "./types";

const TURN = 72, LEAP = 12; // steps of a dial around: by arrow keys, and by PageUp and PageDown

export class GivenControls {
  private made = "";
  private updates: (() => void)[] = [];

  // `moved`: while a slider or a dial is dragged; `chosen`: when it rests.
  constructor(private box: HTMLElement, private host: { given: Given | null }, private heard: { moved(): void; chosen(): void }) {}

  take(controls: Control[]): void {
    const now = JSON.stringify(controls);
    if (now !== this.made) {
      this.made = now;
      this.updates = [];
      fill(this.box, ...controls.map((one) => this.control(one, controls)));
    }
    for (const update of this.updates) update();
  }

  private set(one: Control, controls: Control[], value: string | number | null, rest = true): void {
    if (value === null) this.host.given = null;
    else {
      const kept: Given = {};
      for (const other of controls) kept[other.name] = this.host.given?.[other.name] ?? first(other);
      this.host.given = { ...kept, [one.name]: value };
    }
    for (const update of this.updates) update();
    if (rest) this.heard.chosen(); else this.heard.moved();
  }

  private control(one: Control, controls: Control[]): HTMLElement {
    const value = () => this.host.given?.[one.name];
    if (one.values) {
      const select = make("select", { id: `given-${one.name}`, onchange: () => this.set(one, controls, select.value || null) },
        make("option", { value: "" }, "averaged over"), ...one.values.map((text) => make("option", { value: text }, text)));
      this.updates.push(() => { select.value = String(value() ?? ""); });
      return make("label", { class: "given" }, `Given ${one.name} `, select);
    }
    const says = make("span", { class: "note" }), average = button("Average", () => { this.set(one, controls, null); handle.focus(); }, { "aria-label": `Average over ${one.name} again` });
    const handle = one.kind === "angle" ? dial(one, () => Number(value() ?? first(one)), (at, rest) => this.set(one, controls, at, rest)) : slider(one, (at, rest) => this.set(one, controls, at, rest));
    this.updates.push(() => {
      const now = value(), at = Number(now ?? first(one));
      says.textContent = now === undefined ? "averaged over" : written(at);
      average.hidden = now === undefined;
      if (handle instanceof HTMLInputElement) { if (Number(handle.value) !== at) handle.value = String(at); }
      else point(handle, at / ((one.high ?? 1) - (one.low ?? 0)), written(at));
      handle.setAttribute("aria-valuetext", now === undefined ? "averaged over" : written(at));
    });
    return make("div", { class: "given", role: "group", "aria-label": `Given ${one.name}` }, make("span", {}, `Given ${one.name} `), handle, " ", says, " ", average);
  }
}

// The value that a control has until somebody chooses one.
export const first = (one: Control): string | number => one.values?.[0] ?? ((one.low ?? 0) + (one.high ?? 1)) / 2;

function slider(one: Control, set: (at: number, rest: boolean) => void): HTMLInputElement {
  const low = one.low ?? 0, high = one.high ?? 1;
  const range: HTMLInputElement = make("input", { type: "range", min: String(low), max: String(high), step: String((high - low) / 200 || "any"), "aria-label": `Given ${one.name}`,
    oninput: () => set(Number(range.value), false), onchange: () => set(Number(range.value), true) });
  return range;
}

// A circle with a hand: 0 is at the top, values grow clockwise.
function dial(one: Control, now: () => number, set: (at: number, rest: boolean) => void): HTMLElement {
  const period = (one.high ?? 1) - (one.low ?? 0), around = (value: number) => ((value % period) + period) % period;
  const face = make("div", { class: "dial", tabIndex: 0, role: "slider", "aria-label": `Given ${one.name}`, "aria-valuemin": 0, "aria-valuemax": period }, make("span", { class: "hand" }));
  const follow = (event: PointerEvent, rest: boolean) => {
    const box = face.getBoundingClientRect(), turn = Math.atan2(event.clientX - box.x - box.width / 2, box.y + box.height / 2 - event.clientY) / (2 * Math.PI);
    set(around(turn * period), rest);
  };
  face.addEventListener("pointerdown", (event) => { face.setPointerCapture(event.pointerId); follow(event, false); });
  face.addEventListener("pointermove", (event) => { if (face.hasPointerCapture(event.pointerId)) follow(event, false); });
  face.addEventListener("pointerup", (event) => follow(event, true));
  face.addEventListener("keydown", (event) => {
    const steps: Record<string, number> = { ArrowRight: 1 / TURN, ArrowUp: 1 / TURN, ArrowLeft: -1 / TURN, ArrowDown: -1 / TURN, PageUp: 1 / LEAP, PageDown: -1 / LEAP };
    if (!(event.key in steps) && event.key !== "Home") return;
    event.preventDefault();
    set(event.key === "Home" ? 0 : around(now() + steps[event.key] * period), true);
  });
  return face;
}

function point(face: HTMLElement, share: number, text: string): void {
  (face.firstElementChild as HTMLElement).style.transform = `rotate(${share}turn)`;
  face.setAttribute("aria-valuenow", text);
}
