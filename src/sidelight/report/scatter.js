// A scatter on a canvas: pan, zoom, pick. It knows places and stamps, nothing of columns or pictures.

const MANY = 6000;   // rows from which points are set pixel by pixel
const DIM = 0.16;    // opacity of rows that are faded

class Scatter {
  // Names of one axis or two; a plane of two has one unit, unless they are stretched to fill the canvas.
  constructor(canvas, points, extent, axes, stretched) {
    Object.assign(this, { canvas, points, extent, axes, stretched, flat: axes.length > 1 });
    this.n = points.length / 2;
    this.style = new Uint16Array(this.n);   // which stamp draws a point
    this.stamps = [];
    this.hidden = new Set();                // stamps that are not drawn
    this.underlay = null;                   // {image, extent}
    this.marked = -1;
    this.selected = null;                   // 1 for selected rows; the others are faded
    this.faint = null;                      // 1 for rows that are faded because they are not to be believed
    this.lassoing = false;                  // whether dragging draws around rows instead of moving the map
    this.path = null;
    this.listeners = { hover: [], leave: [], refuse: [], lasso: [] };
    this.pointers = new Map();
    this.pending = false;
    this.wire();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
    this.reset();
  }

  on(event, listener) { this.listeners[event].push(listener); }
  emit(event, ...details) { this.listeners[event].forEach((listener) => listener(...details)); }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const before = this.width;
    this.width = box.width; this.height = box.height;
    this.context = sharpContext(this.canvas, box.width, box.height);
    if (before !== undefined && !this.moved) this.reset();
    this.draw();
  }

  // The view: page = offset + scale * place, upwards in the plane being upwards on the page.
  reset() {
    const [left, right, bottom, top] = this.extent;
    let sx = this.width / (right - left), sy = this.height / (top - bottom);
    if (this.flat && !this.stretched) sx = sy = Math.min(sx, sy);
    this.sx = sx; this.sy = sy;
    this.ox = this.width / 2 - sx * (left + right) / 2;
    this.oy = this.height / 2 + sy * (bottom + top) / 2;
    this.moved = false;
    this.draw();
  }

  toPage(u, v) { return [this.ox + this.sx * u, this.oy - this.sy * v]; }
  toPlane(x, y) { return [(x - this.ox) / this.sx, (this.oy - y) / this.sy]; }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const [left, right] = this.extent;
    const bounded = Math.min(Math.max(factor, 0.2 * this.width / (right - left) / this.sx), 500 * this.width / (right - left) / this.sx);
    this.ox = x + (this.ox - x) * bounded;
    this.oy = y + (this.oy - y) * (this.flat ? bounded : 1);
    this.sx *= bounded;
    if (this.flat) this.sy *= bounded;
    this.moved = true;
    this.draw();
  }

  pan(dx, dy) {
    this.ox += dx;
    if (this.flat) this.oy += dy;
    this.moved = true;
    this.draw();
  }

  pick(x, y, reach = 14) {
    let best = -1, nearest = reach * reach;
    for (let i = 0; i < this.n; i++) {
      const dx = this.ox + this.sx * this.points[2 * i] - x, dy = this.oy - this.sy * this.points[2 * i + 1] - y;
      const distance = dx * dx + dy * dy;
      if (distance < nearest && !this.hidden.has(this.style[i])) { nearest = distance; best = i; }
    }
    return best;
  }

  draw() {
    if (this.pending || !this.context) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }

  paint() {
    const context = this.context;
    context.clearRect(0, 0, this.width, this.height);
    if (this.underlay) {
      const [left, right, bottom, top] = this.underlay.extent, [x, y] = this.toPage(left, top);
      context.imageSmoothingQuality = "high";
      context.drawImage(this.underlay.image, x, y, this.sx * (right - left), this.sy * (top - bottom));
    }
    this.paintTicks(context);
    if (this.n > MANY) this.paintPixels(context);
    else this.paintStamps(context);
    if (this.path) this.paintPath(context);
    if (this.marked >= 0) this.paintMark(context);
  }

  isDim(i) { return (this.selected !== null && !this.selected[i]) || (this.faint !== null && this.faint[i] === 1); }

  paintPath(context) {
    context.beginPath();
    this.path.forEach(([x, y], k) => context[k ? "lineTo" : "moveTo"](x, y));
    context.closePath();
    context.fillStyle = `rgba(${cssValue("--density")}, 0.12)`;
    context.strokeStyle = cssValue("--accent");
    context.lineWidth = 1.5;
    context.fill();
    context.stroke();
  }

  paintStamps(context) {
    for (let i = 0; i < this.n; i++) {
      const style = this.style[i], stamp = this.stamps[style];
      if (!stamp || this.hidden.has(style)) continue;
      const x = this.ox + this.sx * this.points[2 * i], y = this.oy - this.sy * this.points[2 * i + 1];
      if (x < -9 || y < -9 || x > this.width + 9 || y > this.height + 9) continue;
      context.globalAlpha = this.isDim(i) ? DIM : 1;
      context.drawImage(stamp.image, x - stamp.side / 2, y - stamp.side / 2, stamp.side, stamp.side);
    }
    context.globalAlpha = 1;
  }

  // The same, pixel by pixel in memory: twenty times faster or more where no graphics card draws the stamps.
  paintPixels(context) {
    const { width, height } = this.canvas, ratio = width / this.width;
    const layer = new ImageData(width, height), pixels = new Uint32Array(layer.data.buffer);
    for (let i = 0; i < this.n; i++) {
      const style = this.style[i], stamp = this.stamps[style];
      if (!stamp || this.hidden.has(style)) continue;
      const x = Math.round(ratio * (this.ox + this.sx * this.points[2 * i]));
      const y = Math.round(ratio * (this.oy - this.sy * this.points[2 * i + 1]));
      if (x < 9 || y < 9 || x >= width - 9 || y >= height - 9) continue;
      // The highest byte is the opacity; dim rows are drawn only where no other row is.
      const dim = this.isDim(i), colour = dim ? ((stamp.colour & 0xffffff) | (Math.round(255 * DIM) << 24)) >>> 0 : stamp.colour;
      for (const [dx, dy] of stamp.dots) {
        const at = (y + dy) * width + x + dx;
        if (!dim || !pixels[at]) pixels[at] = colour;
      }
    }
    const canvas = document.createElement("canvas");
    canvas.width = width; canvas.height = height;
    canvas.getContext("2d").putImageData(layer, 0, 0);
    context.drawImage(canvas, 0, 0, this.width, this.height);
  }

  paintTicks(context) {
    const [left, top] = this.toPlane(0, 0), [right, bottom] = this.toPlane(this.width, this.height);
    context.fillStyle = cssValue("--soft");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    for (const tick of niceTicks(left, right, Math.max(3, this.width / 110))) {
      const [x] = this.toPage(tick, 0);
      if (x > 30 && x < this.width - 12) context.fillText(writeNumber(tick), x, this.height - 6);
    }
    context.textAlign = "right";
    context.fillText(this.axes[0], this.width - 8, this.height - 22);
    if (!this.flat) return;
    context.textAlign = "left";
    for (const tick of niceTicks(bottom, top, Math.max(3, this.height / 90))) {
      const y = this.toPage(0, tick)[1];
      if (y > 24 && y < this.height - 20) context.fillText(writeNumber(tick), 6, y + 4);
    }
    context.fillText(this.axes[1], 34, 16);
  }

  paintMark(context) {
    const [x, y] = this.toPage(this.points[2 * this.marked], this.points[2 * this.marked + 1]);
    context.beginPath();
    context.arc(x, y, 9, 0, 2 * Math.PI);
    context.strokeStyle = cssValue("--ink");
    context.lineWidth = 2;
    context.stroke();
  }

  wire() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => { if (!this.pointers.size) this.emit("leave"); });
    canvas.addEventListener("dblclick", (event) => this.zoom(2, event.offsetX, event.offsetY));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
    if (this.lassoing && this.pointers.size === 1) { this.path = [[event.offsetX, event.offsetY]]; return; }
    if (event.pointerType !== "mouse") this.emit("hover", event.offsetX, event.offsetY, this.pick(event.offsetX, event.offsetY, 22));
  }

  move(event) {
    const before = this.pointers.get(event.pointerId), here = [event.offsetX, event.offsetY];
    if (!before) return this.emit("hover", ...here, this.pick(...here));
    if (this.path) { this.path.push(here); return this.draw(); }
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const apart = (place) => Math.max(8, Math.hypot(place[0] - other[0], place[1] - other[1]));
      this.zoom(apart(here) / apart(before), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
    }
    this.pan((here[0] - before[0]) / this.pointers.size, (here[1] - before[1]) / this.pointers.size);
    this.canvas.classList.add("dragging");
    this.pointers.set(event.pointerId, here);
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.canvas.classList.remove("dragging");
    const path = this.path;
    this.path = null;
    if (path && event.type === "pointerup" && path.length > 2) this.emit("lasso", path);
    else if (path) this.draw();
  }

  // Scrolling zooms only once the map was clicked, so that scrolling through the page does not get caught in it.
  wheel(event) {
    if (document.activeElement !== this.canvas && !event.ctrlKey && !event.metaKey) return this.emit("refuse");
    event.preventDefault();
    this.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * 0.0022), event.offsetX, event.offsetY);
  }

  // Mark a row and bring it into view if it is outside.
  goTo(row) {
    const place = () => this.toPage(this.points[2 * row], this.points[2 * row + 1]);
    let [x, y] = place();
    if (x < 0 || y < 0 || x > this.width || y > this.height) {
      this.pan(this.width / 2 - x, this.height / 2 - y);
      [x, y] = place();
    }
    this.emit("hover", x, y, row);
  }

  // The nearest row in a direction, sideways counting twice; without a marked row, the one nearest the middle.
  step(right, down) {
    if (this.marked < 0) return this.goTo(this.pick(this.width / 2, this.height / 2, Infinity));
    const [u, v] = [this.points[2 * this.marked], this.points[2 * this.marked + 1]];
    let best = -1, nearest = Infinity;
    for (let i = 0; i < this.n; i++) {
      if (i === this.marked || this.hidden.has(this.style[i])) continue;
      const dx = this.sx * (this.points[2 * i] - u), dy = -this.sy * (this.points[2 * i + 1] - v);
      const along = dx * right + dy * down, aside = Math.abs(dx * down) + Math.abs(dy * right), far = along + 2 * aside;
      if (along > 0 && aside <= along && far < nearest) { nearest = far; best = i; }
    }
    if (best >= 0) this.goTo(best);
  }

  key(event) {
    const step = 40;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (event.shiftKey && steps[event.key]) this.step(...steps[event.key]);
    else if (event.key === "Escape") this.emit("leave");
    else if (moves[event.key]) this.pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.reset();
    else return;
    event.preventDefault();
  }
}
