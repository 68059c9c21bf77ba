// The map: view, pointer and keys, picking and selecting. Colours and meaning come from outside.

import { painter, type Drawing, type Painter, type View } from "./points";
import type { Layer } from "./types";

export type Tool = "move" | "lasso" | "box" | "walk" | "drag";
export type Mode = "replace" | "add" | "remove";
type Place = [number, number];

const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const MANY = 50_000; // points of which fewer may be drawn while the map is moved
const SECONDS = 0.9; // of a transition
const STEP = 7; // pixels between the places of a walk
const RINGS = 400; // matches of a search that are ringed
const GHOSTS = 3000; // rows that are drawn while they are dragged

export class Scatter {
  n = 0;
  tool: Tool = "move";
  marked = -1;
  onhover: (place: Place, row: number) => void = () => {};
  onselect: (rows: number[], mode: Mode) => void = () => {};
  onclear: () => void = () => {};
  onwalk: (place: Place, first: boolean) => void = () => {};
  onturn: ((right: number, down: number) => void) | null = null; // set where dragging turns the map
  allowed: (row: number) => boolean = () => true; // rows that can be pointed at and selected
  ondrag: (shift: Place) => void = () => {}; // in coordinates of the map
  dragged: () => Iterable<number> = () => []; // the rows that the tool drags
  picked: (row: number) => boolean = () => false; // rows that are selected
  view: View = { ox: 0, oy: 0, s: 1, width: 1, height: 1 };
  points: Float32Array = new Float32Array();
  private painter: Painter;
  private under: CanvasRenderingContext2D;
  private over: CanvasRenderingContext2D;
  private layer: { image: HTMLCanvasElement; extent: number[] } | null = null;
  private path: Place[] | null = null;
  private share = 1;
  private waiting = false;
  private stale = true; // the points must be drawn again, not only what is over them
  private moved = false;
  private every = 1; // while the map is moved, every so many-th point is drawn
  private painted = 0; // when the last frame of a move was drawn; 0: at rest
  private rest = 0;
  private cells: { index: Int32Array; start: Int32Array; side: number; left: number; bottom: number; w: number; h: number } | null = null;
  private pointers = new Map<number, Place>();
  private rings: number[] = [];
  private trail: Place[] = [];
  private stops: Place[] = [];
  private observer = new ResizeObserver(() => this.resize());

  constructor(private stage: HTMLElement) {
    const [under, points, over] = [...stage.querySelectorAll("canvas")];
    this.painter = painter(points);
    this.under = under.getContext("2d")!;
    this.over = over.getContext("2d")!;
    stage.dataset.drawing = this.painter.kind;
    this.wire(over);
    this.observer.observe(stage);
    addEventListener("beforeprint", this.printing);
    addEventListener("afterprint", this.printed);
    this.resize();
  }

  end(): void {
    this.observer.disconnect();
    removeEventListener("beforeprint", this.printing);
    removeEventListener("afterprint", this.printed);
  }

  // What WebGL drew is not there any more when the page is printed, so the points are copied onto the canvas beneath.
  private printing = (): void => {
    this.stale = true;
    this.paint();
    this.under.setTransform(1, 0, 0, 1, 0, 0);
    this.under.drawImage(this.stage.querySelectorAll("canvas")[1], 0, 0);
  };

  private printed = (): void => this.draw();

  // New places of the rows; with old ones of as many rows, they move there.
  show(points: Float32Array, moving: boolean, drawing: Drawing | null = null): void {
    const from = moving && points.length === this.points.length && !CALM.matches ? this.points : points;
    this.points = points;
    this.n = points.length / 2;
    this.painter.places(from, points);
    this.every = Math.max(1, Math.min(16, 2 ** Math.ceil(Math.log2(this.n / MANY)))); // the first look comes soon, the rest after it
    this.hurry();
    this.painter.draw(drawing);
    this.cells = null;
    this.expect(points);
    const before = { ...this.view };
    if (!this.moved || !moving) this.all();
    if (from === points) { this.share = 1; this.draw(); return; }
    const after = { ...this.view }, follows = !this.moved, began = performance.now();
    // The view goes along, so that the eye can follow: a jump would be taken for a move of the rows.
    const look = (share: number): void => { for (const key of ["ox", "oy", "s"] as const) this.view[key] = before[key] + share * (after[key] - before[key]); };
    const step = (now: number): void => {
      const t = Math.min(1, Math.max(0, now - began) / (1000 * SECONDS));
      this.share = t * t * (3 - 2 * t);
      if (follows && !this.moved) look(this.share);
      this.draw();
      if (this.points !== points) return;
      if (t < 1) requestAnimationFrame(step);
      else if (follows && !this.moved) this.all(); // the stage may have another size by now
    };
    if (follows) look(0);
    this.share = 0;
    requestAnimationFrame(step);
  }

  // Sorts the points for the pointer while nothing else is to do, so that the first look is as quick as later ones.
  private expect(points: Float32Array): void {
    const idle = window.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 500));
    idle(() => { if (this.points === points && !this.cells) this.index(); });
  }

  // The same rows seen from another side.
  place(points: Float32Array, drawing: Drawing | null): void {
    this.points = points;
    this.share = 1;
    this.painter.places(points, points);
    this.painter.draw(drawing);
    this.cells = null;
    this.draw();
  }

  ring(rows: number[]): void { this.rings = rows; this.draw(false); }
  follow(trail: Place[], stops: Place[]): void { this.trail = trail; this.stops = stops; this.draw(false); }
  near(place: Place): number { return this.pick(...this.toPage(...place)); }

  // Moves the map so that a row is well inside of the stage.
  reveal(row: number): void {
    const [x, y] = this.placeOf(row), { width, height } = this.view;
    if (x < 0.08 * width || y < 0.08 * height || x > 0.92 * width || y > 0.92 * height) this.pan(width / 2 - x, height / 2 - y);
  }

  colours(rgba: Uint8Array): void { this.painter.colours(rgba); this.hurry(); this.draw(); }

  // A grid in one colour, the fuller the larger the value; with weights, from `other` to `colour`, as full as the weight.
  setLayer(layer: Layer | null, colour: string, other = colour): void {
    this.layer = null;
    if (layer) {
      const image = document.createElement("canvas");
      image.width = image.height = layer.size;
      const context = image.getContext("2d")!, data = context.createImageData(layer.size, layer.size);
      const [to, from] = [colour, other].map((one) => one.split(",").map(Number)), span = layer.high - layer.low || 1;
      layer.values.forEach((value, k) => {
        const row = layer.size - 1 - Math.floor(k / layer.size), at = 4 * (row * layer.size + (k % layer.size));
        const share = Math.min(1, Math.max(0, (value - layer.low) / span)), full = layer.weights ? 0.75 * layer.weights[k] : share;
        data.data.set([...to.map((one, part) => from[part] + share * (one - from[part])), Math.round(200 * full)], at);
      });
      context.putImageData(data, 0, 0);
      this.layer = { image, extent: layer.extent };
    }
    this.draw();
  }

  extent(margin = 0.06): number[] {
    let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.n; i++) {
      const x = this.points[2 * i], y = this.points[2 * i + 1];
      if (Number.isNaN(x) || Number.isNaN(y)) continue;
      left = Math.min(left, x); right = Math.max(right, x); bottom = Math.min(bottom, y); top = Math.max(top, y);
    }
    if (left > right) return [0, 1, 0, 1];
    const edge = margin * Math.max(right - left, top - bottom, 1e-9);
    return [left - edge, right + edge, bottom - edge, top + edge];
  }

  // What the stage shows when all rows are in it, and half as much around it.
  window(): number[] {
    const [left, right, bottom, top] = this.extent(), { width, height } = this.view;
    const s = Math.min(width / (right - left), height / (top - bottom)), x = (left + right) / 2, y = (bottom + top) / 2;
    return [x - (0.75 * width) / s, x + (0.75 * width) / s, y - (0.75 * height) / s, y + (0.75 * height) / s];
  }

  all(): void {
    const [left, right, bottom, top] = this.extent(), { width, height } = this.view;
    const s = Math.min(width / (right - left), height / (top - bottom));
    Object.assign(this.view, { s, ox: width / 2 - (s * (left + right)) / 2, oy: height / 2 + (s * (bottom + top)) / 2 });
    this.moved = false;
    this.draw();
  }

  // The part of the map that is in sight, and how to see such a part.
  seen(): number[] { const [left, top] = this.toMap(0, 0), [right, bottom] = this.toMap(this.view.width, this.view.height); return [left, right, bottom, top]; }
  see([left, right, bottom, top]: number[]): void {
    const { width, height } = this.view, s = Math.min(width / (right - left), height / (top - bottom));
    if (!Number.isFinite(s) || s <= 0) return;
    Object.assign(this.view, { s, ox: width / 2 - (s * (left + right)) / 2, oy: height / 2 + (s * (bottom + top)) / 2 });
    this.moved = true;
    this.draw();
  }

  toPage(u: number, v: number): Place { return [this.view.ox + this.view.s * u, this.view.oy - this.view.s * v]; }
  toMap(x: number, y: number): Place { return [(x - this.view.ox) / this.view.s, (this.view.oy - y) / this.view.s]; }
  placeOf(row: number): Place { return this.toPage(this.points[2 * row], this.points[2 * row + 1]); }

  zoom(factor: number, x = this.view.width / 2, y = this.view.height / 2): void {
    const view = this.view;
    this.hurry();
    view.ox = x + (view.ox - x) * factor; view.oy = y + (view.oy - y) * factor; view.s *= factor;
    this.moved = true;
    this.draw();
  }

  pan(dx: number, dy: number): void { this.hurry(); this.view.ox += dx; this.view.oy += dy; this.moved = true; this.draw(); }

  // The nearest row within `reach` pixels; -1 without one.
  pick(x: number, y: number, reach = 16): number {
    const cells = this.cells ?? this.index();
    const [u, v] = this.toMap(x, y), far = reach / this.view.s;
    const column = (place: number) => Math.min(cells.side - 1, Math.max(0, Math.floor((place - cells.left) / cells.w)));
    const line = (place: number) => Math.min(cells.side - 1, Math.max(0, Math.floor((place - cells.bottom) / cells.h)));
    let best = -1, nearest = far * far;
    for (let b = line(v - far); b <= line(v + far); b++) for (let a = column(u - far); a <= column(u + far); a++) {
      for (let k = cells.start[b * cells.side + a]; k < cells.start[b * cells.side + a + 1]; k++) {
        const i = cells.index[k], dx = this.points[2 * i] - u, dy = this.points[2 * i + 1] - v, apart = dx * dx + dy * dy;
        if (apart < nearest && this.allowed(i)) { nearest = apart; best = i; }
      }
    }
    return best;
  }

  // Rows inside a path on the page (even-odd rule).
  inside(path: Place[]): number[] {
    const around = path.map(([x, y]) => this.toMap(x, y)), found: number[] = [];
    const xs = around.map(([u]) => u), ys = around.map(([, v]) => v);
    const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    for (let i = 0; i < this.n; i++) {
      const u = this.points[2 * i], v = this.points[2 * i + 1];
      if (!(u >= left && u <= right && v >= bottom && v <= top)) continue;
      let within = false;
      for (let k = 0, j = around.length - 1; k < around.length; j = k++) {
        const [ax, ay] = around[k], [bx, by] = around[j];
        if (ay > v !== by > v && u < ((bx - ax) * (v - ay)) / (by - ay) + ax) within = !within;
      }
      if (within && this.allowed(i)) found.push(i);
    }
    return found;
  }

  mark(row: number): void { this.marked = row; this.draw(false); }

  private index(): NonNullable<Scatter["cells"]> {
    const [left, right, bottom, top] = this.extent(0), side = Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(this.n / 2))));
    const w = (right - left) / side || 1, h = (top - bottom) / side || 1, start = new Int32Array(side * side + 1), cell = new Int32Array(this.n).fill(-1);
    for (let i = 0; i < this.n; i++) {
      const u = this.points[2 * i], v = this.points[2 * i + 1];
      if (Number.isNaN(u) || Number.isNaN(v)) continue;
      cell[i] = Math.min(side - 1, Math.floor((v - bottom) / h)) * side + Math.min(side - 1, Math.floor((u - left) / w));
      start[cell[i] + 1]++;
    }
    for (let k = 0; k < side * side; k++) start[k + 1] += start[k];
    const index = new Int32Array(start[side * side]), next = start.slice();
    for (let i = 0; i < this.n; i++) if (cell[i] >= 0) index[next[cell[i]]++] = i;
    return (this.cells = { index, start, side, left, bottom, w, h });
  }

  private resize(): void {
    const box = this.stage.getBoundingClientRect(), ratio = Math.min(2, devicePixelRatio || 1);
    if (!box.width || !box.height) return;
    for (const canvas of this.stage.querySelectorAll("canvas")) {
      const [w, h] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
      if (canvas.width !== w) canvas.width = w; // setting it clears the canvas, and waits for what is being drawn
      if (canvas.height !== h) canvas.height = h;
    }
    const [dx, dy] = [(box.width - this.view.width) / 2, (box.height - this.view.height) / 2];
    this.view.width = box.width; this.view.height = box.height;
    if (this.n && !this.moved) this.all();
    else { this.view.ox += dx; this.view.oy += dy; }
    this.hurry();
    this.draw();
  }

  // Draws in the next frame; without `points` only what is over them, which a million points would make slow.
  private draw(points = true): void {
    this.stale ||= points;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  // A move of the map: a machine that is slow draws fewer points until the map rests, and then all.
  private hurry(): void {
    if (this.n < MANY) return;
    clearTimeout(this.rest);
    this.painted ||= performance.now();
    this.rest = setTimeout(() => {
      if (this.pointers.size && !this.path) return this.hurry(); // held, and about to move on
      this.painted = 0;
      this.draw();
    }, 250) as unknown as number;
  }

  private paint(): void {
    const now = performance.now(), took = now - this.painted, every = this.painted ? this.every : 1;
    if (this.painted && this.stale) {
      this.every = took > 200 ? this.every * 4 : took > 50 ? this.every * 2 : took < 20 ? this.every / 2 : this.every;
      this.every = Math.max(1, Math.min(16, this.every));
      this.painted = now;
    }
    const { width, height } = this.view, ratio = this.under.canvas.width / width;
    for (const context of this.stale ? [this.under, this.over] : [this.over]) {
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
    }
    if (this.layer && this.stale) {
      const [left, right, bottom, top] = this.layer.extent, [x, y] = this.toPage(left, top);
      this.under.imageSmoothingQuality = "high";
      this.under.drawImage(this.layer.image, x, y, this.view.s * (right - left), this.view.s * (top - bottom));
    }
    if (this.n && this.stale) this.painter.paint(this.view, this.share, Math.max(1.5, Math.min(9, 240 / Math.sqrt(this.n))), every);
    this.stale = false;
    const style = getComputedStyle(this.stage), ink = style.getPropertyValue("--ink"), accent = style.getPropertyValue("--accent");
    if (this.path && this.tool === "drag") this.paintDragged(this.path, accent);
    else if (this.path) {
      this.over.beginPath();
      this.outline(this.path).forEach(([x, y], k) => (k ? this.over.lineTo(x, y) : this.over.moveTo(x, y)));
      this.over.closePath();
      this.over.strokeStyle = accent; this.over.lineWidth = 1.5; this.over.stroke();
      this.over.globalAlpha = 0.1; this.over.fillStyle = accent; this.over.fill(); this.over.globalAlpha = 1;
    }
    if (this.share === 1) this.annotate(ink, accent);
    if (this.marked >= 0 && this.marked < this.n && this.share === 1) {
      const [x, y] = this.placeOf(this.marked);
      this.over.beginPath();
      this.over.arc(x, y, 9, 0, 2 * Math.PI);
      this.over.strokeStyle = ink; this.over.lineWidth = 2; this.over.stroke();
    }
  }

  // Rings around matches, and the path of a walk with its steps.
  private annotate(ink: string, accent: string): void {
    const over = this.over;
    over.strokeStyle = accent; over.lineWidth = this.rings.length > 60 ? 1 : 2;
    for (const row of this.rings.slice(0, RINGS)) {
      const [x, y] = this.placeOf(row);
      over.beginPath(); over.arc(x, y, this.rings.length > 60 ? 4.5 : 7, 0, 2 * Math.PI); over.stroke();
    }
    if (this.trail.length < 1) return;
    over.beginPath();
    this.trail.map((place) => this.toPage(...place)).forEach(([x, y], k) => (k ? over.lineTo(x, y) : over.moveTo(x, y)));
    over.lineWidth = 2; over.strokeStyle = ink; over.stroke();
    over.fillStyle = accent;
    for (const place of this.stops.length ? this.stops : [this.trail[0]]) {
      const [x, y] = this.toPage(...place);
      over.beginPath(); over.arc(x, y, 3.5, 0, 2 * Math.PI); over.fill();
    }
  }

  // An arrow, and rings where the dragged rows would be.
  private paintDragged(path: Place[], accent: string): void {
    const over = this.over, [[a, b], [c, d]] = [path[0], path[path.length - 1]], turn = Math.atan2(d - b, c - a);
    over.strokeStyle = accent; over.lineWidth = 1.5;
    over.beginPath();
    over.moveTo(a, b); over.lineTo(c, d);
    for (const side of [-2.6, 2.6]) { over.moveTo(c, d); over.lineTo(c + 10 * Math.cos(turn + side), d + 10 * Math.sin(turn + side)); }
    let drawn = 0;
    for (const row of this.dragged()) {
      if (drawn++ >= GHOSTS) break;
      const [x, y] = this.placeOf(row);
      over.moveTo(x + c - a + 4, y + d - b);
      over.arc(x + c - a, y + d - b, 4, 0, 2 * Math.PI);
    }
    over.stroke();
  }

  private outline(path: Place[]): Place[] {
    if (this.tool !== "box") return path;
    const [[a, b], [c, d]] = [path[0], path[path.length - 1]];
    return [[a, b], [c, b], [c, d], [a, d]];
  }

  private wire(canvas: HTMLCanvasElement): void {
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      const here: Place = [event.offsetX, event.offsetY];
      this.pointers.set(event.pointerId, here);
      if (this.tool === "walk" && this.pointers.size === 1) { this.onwalk(this.toMap(...here), true); return; }
      if (this.tool !== "move" && this.pointers.size === 1) this.path = [here];
      else if (event.pointerType !== "mouse") this.hover(here, 24);
    });
    canvas.addEventListener("pointermove", (event) => {
      const here: Place = [event.offsetX, event.offsetY], before = this.pointers.get(event.pointerId);
      if (!before) return this.hover(here);
      if (this.path) { this.path.push(here); return this.draw(false); }
      if (this.tool === "walk" && this.pointers.size === 1) {
        if (Math.hypot(here[0] - before[0], here[1] - before[1]) < STEP) return;
        this.pointers.set(event.pointerId, here);
        return this.onwalk(this.toMap(...here), false);
      }
      if (this.pointers.size === 2) {
        const other = [...this.pointers].find(([id]) => id !== event.pointerId)![1];
        const apart = (place: Place) => Math.max(8, Math.hypot(place[0] - other[0], place[1] - other[1]));
        this.zoom(apart(here) / apart(before), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
      }
      if (this.onturn && this.pointers.size === 1 && !event.shiftKey) this.onturn((here[0] - before[0]) / 140, (here[1] - before[1]) / 140);
      else this.pan((here[0] - before[0]) / this.pointers.size, (here[1] - before[1]) / this.pointers.size);
      this.pointers.set(event.pointerId, here);
    });
    const release = (event: PointerEvent): void => {
      this.pointers.delete(event.pointerId);
      const path = this.path;
      this.path = null;
      if (path && this.tool === "drag") {
        const [from, to] = [this.toMap(...path[0]), this.toMap(...path[path.length - 1])];
        if (event.type === "pointerup" && path.length > 2) this.ondrag([to[0] - from[0], to[1] - from[1]]);
      } else if (path && event.type === "pointerup" && path.length > 2) this.onselect(this.inside(this.outline(path)), modeOf(event));
      this.draw();
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * 0.0022), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private hover(here: Place, reach = 16): void { this.onhover(this.toMap(...here), this.pick(...here, reach)); }

  // The nearest row in a direction, sideways counting twice; without a marked row, the one nearest to the middle.
  private step(right: number, down: number): void {
    let best = -1, nearest = Infinity;
    const [x, y] = this.marked < 0 ? [this.view.width / 2, this.view.height / 2] : this.placeOf(this.marked);
    for (let i = 0; i < this.n; i++) {
      const [a, b] = this.placeOf(i), dx = a - x, dy = b - y;
      const along = dx * right + dy * down, aside = Math.abs(dx * down) + Math.abs(dy * right);
      const far = this.marked < 0 ? dx * dx + dy * dy : along + 2 * aside;
      if (i !== this.marked && this.allowed(i) && (this.marked < 0 || (along > 0 && aside <= along)) && far < nearest) { nearest = far; best = i; }
    }
    if (best < 0) return;
    const [a, b] = this.placeOf(best);
    if (a < 0 || b < 0 || a > this.view.width || b > this.view.height) this.pan(this.view.width / 2 - a, this.view.height / 2 - b);
    this.onhover([this.points[2 * best], this.points[2 * best + 1]], best);
  }

  // A walk by keys goes on from its end, or begins at the marked row or in the middle.
  private walkOn(right: number, down: number): void {
    const last = this.trail[this.trail.length - 1];
    const [x, y] = last ? this.toPage(...last) : this.marked >= 0 ? this.placeOf(this.marked) : [this.view.width / 2, this.view.height / 2];
    if (!last) this.onwalk(this.toMap(x, y), true);
    this.onwalk(this.toMap(x + 3 * STEP * right, y + 3 * STEP * down), false);
  }

  private key(event: KeyboardEvent): void {
    const ways: Record<string, Place> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (way && event.shiftKey) this.step(...way);
    else if (way && this.tool === "walk") this.walkOn(...way);
    else if (way && this.onturn) this.onturn(0.12 * way[0], 0.12 * way[1]);
    else if (way) this.pan(-40 * way[0], -40 * way[1]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.all();
    else if (event.key === " " && this.marked >= 0 && this.allowed(this.marked)) this.onselect([this.marked], event.altKey || this.picked(this.marked) ? "remove" : "add");
    else if (event.key === "Escape") this.onclear();
    else return;
    event.preventDefault();
  }
}

const modeOf = (event: PointerEvent): Mode => (event.shiftKey ? "add" : event.altKey ? "remove" : "replace");
