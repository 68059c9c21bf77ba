// The report: colours, legend, tooltip, and the forward map at the pointer.

const DATA = JSON.parse(document.getElementById("sidelight-data").textContent);
const SHADES = 64;   // stamps of a numerical colour
const MOST_REMARKABLE = 8;   // features that are listed at the pointer

class Colouring {
  constructor(scatter, data, legend) {
    Object.assign(this, { scatter, data, legend });
    this.columns = [...data.columns, ...(data.reliability ? [data.reliability.column] : [])].map((column) => {
      const own = unpack(column.kind === "categories" ? column.codes : column.values);
      return { ...column, own, values: column.entries ? Int8Array.from(own, (code) => column.shared[code]) : own };
    });
    this.current = data.columns.length ? data.opening ?? 0 : -1;
  }

  fillSelect(select) {
    const groups = new Map();
    this.columns.forEach((column, k) => {
      if (!groups.has(column.group)) groups.set(column.group, element("optgroup", { label: column.group }));
      groups.get(column.group).append(element("option", { value: k }, column.name + this.kindOf(column)));
    });
    select.append(...groups.values(), element("option", { value: -1 }, "nothing"));
    select.value = String(this.current);
    select.addEventListener("change", () => this.show(Number(select.value)));
  }

  kindOf(column) {
    const many = column.count ?? (column.levels || []).length;
    return column.kind === "categories" ? ` (${many} ${many === 1 ? "category" : "categories"})` : "";
  }

  show(number) {
    this.current = number;
    this.scatter.hidden.clear();
    const column = this.columns[number];
    this.radius = Math.max(1.4, Math.min(5, 120 / Math.sqrt(this.scatter.n)));
    this.edge = this.scatter.n <= 5000 ? cssValue("--edge") : null;
    this.legend.replaceChildren();
    if (!column) this.plain();
    else if (column.kind === "categories") this.categories(column);
    else this.numbers(column);
    this.scatter.draw();
  }

  stamp(colour, shape = 0) { return markerStamp(colour, shape, this.radius, this.edge); }

  plain() {
    this.scatter.style.fill(0);
    this.scatter.stamps = [this.stamp(this.data.palette[0])];
  }

  look(code) {
    const many = this.data.palette.length;
    return [this.data.palette[code % many], Math.floor(code / many) % 4];
  }

  // Style 0 is "missing"; style k + 1 is level k.
  categories(column) {
    const counts = new Array(column.levels.length + 1).fill(0);
    column.values.forEach((code, i) => { this.scatter.style[i] = code + 1; counts[code + 1]++; });
    this.scatter.stamps = [this.stamp(this.data.missing), ...column.levels.map((_, k) => this.stamp(...this.look(k)))];
    const list = element("ul");
    column.levels.forEach((level, k) => list.append(this.item(level, counts[k + 1], k + 1, this.look(k))));
    if (counts[0]) list.append(this.item("missing", counts[0], 0, [this.data.missing, 0]));
    this.legend.append(element("h3", {}, column.name), list);
  }

  item(name, count, style, look) {
    const swatch = element("canvas");
    swatch.style.width = swatch.style.height = "14px";
    const context = sharpContext(swatch, 14, 14);
    traceMarker(context, look[1], 7, 7, 5);
    context.fillStyle = look[0];
    context.fill();
    const button = element("button", { type: "button", "aria-pressed": "true", title: name }, swatch,
      element("span", { class: "level" }, name), element("span", { class: "count" }, count.toLocaleString("en")));
    button.addEventListener("click", () => {
      const hide = !this.scatter.hidden.delete(style);
      if (hide) this.scatter.hidden.add(style);
      button.setAttribute("aria-pressed", String(!hide));
      this.scatter.draw();
    });
    return element("li", {}, button);
  }

  numbers(column) {
    const span = column.high - column.low || 1;
    let missing = 0;
    column.values.forEach((value, i) => {
      if (Number.isNaN(value)) { missing++; this.scatter.style[i] = 0; return; }
      const turn = column.period ? value - column.period * Math.floor(value / column.period) : value;
      const share = Math.min(Math.max((turn - column.low) / span, 0), 1);
      this.scatter.style[i] = 1 + Math.min(SHADES - 1, Math.floor(share * SHADES));
    });
    this.scatter.stamps = [this.stamp(this.data.missing)];
    const colour = column.period ? (share) => circle(share, this.data.cycle) : viridis;
    for (let k = 0; k < SHADES; k++) this.scatter.stamps.push(this.stamp(colour((k + 0.5) / SHADES)));
    const bar = element("canvas", { class: "bar" });
    const context = sharpContext(bar, 232, 12);
    for (let x = 0; x < 232; x++) { context.fillStyle = colour(x / 231); context.fillRect(x, 0, 1.5, 12); }
    const { rows, least, most } = column.beyond ?? { rows: 0 }, write = (value) => writeEntry(column, value);
    const ends = element("div", { class: "ends" }, element("span", {}, (rows && least < column.low ? "≤ " : "") + write(column.low)),
      element("span", {}, (rows && most > column.high ? "≥ " : "") + write(column.high)));
    this.legend.append(element("h3", {}, column.name), bar, ends);
    if (rows) this.legend.append(this.beyond(rows, write(least), write(most)));
    if (missing) this.legend.append(element("ul", {}, this.item("missing", missing, 0, [this.data.missing, 0])));
  }

  // Outliers that would make all other rows one colour take the colours of the ends.
  beyond(rows, least, most) {
    const are = rows === 1 ? "1 row is beyond the ends and has the colour of one" : `${rows.toLocaleString("en")} rows are beyond the ends and have their colours`;
    return element("p", { class: "caption beyond" }, `${are} (the range is ${least} to ${most}).`);
  }

  // What the tooltip says of a row: the colour, the columns that the user named, the first features, how many more and where they are.
  describe(row) {
    const told = this.data.told, first = this.columns[this.current];
    const of = (group) => this.columns.filter((column) => column.group === group && column !== first);
    const named = of("Columns"), features = of("Features");
    const stored = Math.max(0, named.length - told) + Math.max(0, features.length - told), where = stored ? "under Colour by" : "not stored in this page";
    const count = this.data.more + stored, more = count ? `and ${count.toLocaleString("en")} more, ${this.data.more && stored ? "some " : ""}${where}` : "";
    const shown = [...(first ? [first] : []), ...named.slice(0, told), ...features.slice(0, told), ...of("Reliability")];
    return [shown.map((column) => [column.name, this.entry(column, row)]), more];
  }

  entry(column, row) {
    const value = column.own[row];
    if (column.kind === "numbers") return writeEntry(column, value);
    return (column.entries || column.levels)[value] ?? "missing";
  }
}

class Tooltip {
  constructor(box, stage, colouring, data, sheet) {
    Object.assign(this, { box, stage, colouring, data, sheet });
    this.rows = data.rows ? unpack(data.rows) : null;
  }

  show(row, x, y) {
    const list = element("dl"), [entries, more] = this.colouring.describe(row);
    for (const [name, value] of entries) list.append(element("dt", {}, name), element("dd", {}, value));
    const picture = this.picture(row), name = this.data.names && this.data.names[row];
    const head = name ? element("strong", {}, name, element("span", {}, ` row ${this.number(row)}`)) : element("strong", {}, `row ${this.number(row)}`);
    const rest = more ? [element("p", {}, more)] : [];
    this.box.replaceChildren(...(picture ? [picture] : []), head, list, ...rest);
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect(), room = this.stage.getBoundingClientRect();
    this.box.style.left = `${x + 16 + width > room.width ? Math.max(0, x - 16 - width) : x + 16}px`;
    this.box.style.top = `${Math.max(0, Math.min(y - height / 2, room.height - height))}px`;
  }

  hide() { this.box.hidden = true; }

  number(row) { return this.rows ? this.rows[row] : row; }

  // The row of a name or a number: the whole name, the number, then the first name that begins so, or contains it.
  find(text) {
    const wanted = text.trim().toLowerCase(), names = (this.data.names || []).map((name) => name.toLowerCase());
    if (!wanted) return -1;
    const number = /^(row )?\d+$/.test(wanted) ? Number(wanted.replace("row ", "")) : -1;
    const ways = [() => names.indexOf(wanted), () => (this.rows ? this.rows.indexOf(number) : number < this.colouring.scatter.n ? number : -1),
      () => names.findIndex((name) => name.startsWith(wanted)), () => names.findIndex((name) => name.includes(wanted))];
    for (const way of ways) if (way() >= 0) return way();
    return -1;
  }

  picture(row) {
    const about = this.data.thumbnails;
    if (!about || row % about.every) return null;
    const canvas = element("canvas"), scale = 112 / Math.max(about.width, about.height);
    canvas.width = about.width; canvas.height = about.height;
    canvas.style.width = `${about.width * scale}px`;
    canvas.style.height = `${about.height * scale}px`;
    drawCell(canvas.getContext("2d"), this.sheet, about, row / about.every, 0, 0, about.width, about.height);
    return canvas;
  }
}

// Names and values of a list, an interval smaller beside the value.
function entryList(entries) {
  return entries.flatMap(([name, value, ends]) => (value === "" ? [element("dd", { class: "rest" }, name)]
    : [element("dt", { title: name }, name), element("dd", {}, value, ...(ends ? [element("small", {}, ends)] : []))]));
}

// Draw picture k of a sheet into a box.
function drawCell(context, image, about, k, x, y, width, height) {
  const column = k % about.columns, row = Math.floor(k / about.columns);
  context.drawImage(image, column * about.width, row * about.height, about.width, about.height, x, y, width, height);
}

class ForwardMap {
  constructor(data, extent, sheet) {
    Object.assign(this, { data, extent, sheet });
    this.share = unpack(data.share);
    this.logDensity = data.log_density ? unpack(data.log_density) : null;
    if (data.profile) this.heights = unpack(data.profile.heights);
    const about = data.profile?.interval;
    this.interval = about ? { ...about, below: unpack(about.below), above: unpack(about.above) } : null;
    this.categories = (data.profile?.categories || []).map((column) => ({ ...column, codes: unpack(column.codes) }));
  }

  // The cell of the lattice at a place of the plane, the nearest one outside.
  cellAt(u, v) {
    const [left, right, bottom, top] = this.extent, bound = (k, n) => Math.max(0, Math.min(n - 1, k));
    const column = bound(Math.floor((u - left) / (right - left) * this.data.columns), this.data.columns);
    return bound(Math.floor((top - v) / (top - bottom) * this.data.rows), this.data.rows) * this.data.columns + column;
  }

  drawCell(context, k, x, y, width, height) {
    if (this.data.sheet) return drawCell(context, this.sheet, this.data.sheet, k, x, y, width, height);
    const d = this.data.profile.names.length, gap = 0.06 * width;
    const heightOf = (j) => (height - 2 * gap) * Math.max(0.02, this.heights[k * d + j] / 255);
    context.fillStyle = context.strokeStyle = cssValue("--accent");
    if (this.data.profile.bars) {
      const step = (width - 2 * gap) / d;
      for (let j = 0; j < d; j++) context.fillRect(x + gap + j * step, y + height - gap - heightOf(j), 0.8 * step, heightOf(j));
    } else {
      context.beginPath();
      for (let j = 0; j < d; j++) context[j ? "lineTo" : "moveTo"](x + gap + (width - 2 * gap) * j / (d - 1), y + height - gap - heightOf(j));
      context.lineWidth = Math.max(0.8, width / 90);
      context.stroke();
    }
  }

  drawMosaic(canvas) {
    const { rows, columns } = this.data, ratio = this.data.sheet ? this.data.sheet.height / this.data.sheet.width : 1;
    const room = roomFor(canvas), every = room / columns < 30 ? Math.ceil(24 * columns / room) : 1;   // to be readable
    const { context, width, height } = figureContext(canvas, this.extent, rows === 1 ? every * ratio / columns : null);
    const cell = every * width / columns, tall = rows === 1 ? height : every * height / rows;
    for (let row = 0; row < rows; row += every) {
      for (let column = 0; column < columns; column += every) {
        const k = row * columns + column;
        if (!this.share[k]) continue;
        context.globalAlpha = this.share[k] / 255;
        this.drawCell(context, k, column / every * cell, row / every * tall, cell - 1.5, tall - 1.5);
      }
    }
  }

  // The name and value of the bar (or point of the line) at a place of a drawn cell, as its tooltip.
  nameAt(k, x, width) {
    if (!this.data.profile) return "";
    const { names, dates, low, high, bars } = this.data.profile, d = names.length, gap = 0.06 * width;
    const share = (x - gap) / (width - 2 * gap), j = Math.max(0, Math.min(d - 1, bars ? Math.floor(share * d) : Math.round(share * (d - 1))));
    const value = low[j] + this.heights[k * d + j] / 255 * (high[j] - low[j]);
    const told = this.categories.find((column) => column.name === names[j]);
    return `${names[j]}: ${told ? told.levels[told.codes[k]] ?? "missing" : dates[j] ? writeEntry({ date: true }, Math.round(value)) : writeWithin(value, high[j] - low[j])}`;
  }

  // The features of a cell that are farthest from the middle of their range, with their values.
  remarkable(k) {
    if (!this.data.profile) return [];
    const { names, dates, low, high } = this.data.profile, share = (j) => this.heights[k * names.length + j] / 255;
    const order = names.map((_, j) => j).sort((a, b) => Math.abs(share(b) - 0.5) - Math.abs(share(a) - 0.5));
    const told = this.categories.map((column) => [column.name, column.levels[column.codes[k]] ?? "missing"]);
    const drawn = order.filter((j) => !this.categories.some((column) => column.name === names[j]));
    const left = drawn.length - MOST_REMARKABLE, rest = left > 0 ? [[`and ${left} more in the ${this.data.profile.bars ? "bars" : "line"}`, ""]] : [];
    const value = (j) => low[j] + share(j) * (high[j] - low[j]);
    const written = (j) => (dates[j] ? writeEntry({ date: true }, Math.round(value(j))) : writeWithin(value(j), high[j] - low[j]));
    return [...drawn.slice(0, MOST_REMARKABLE).map((j) => [names[j], written(j), this.ends(k, j, value(j))]), ...rest, ...told];
  }

  // The interval of a number, in brackets; empty where there is none.
  ends(k, j, value) {
    const { names, dates, low, high } = this.data.profile;
    if (!this.interval || dates[j]) return "";
    const width = (sides) => sides[k * names.length + j] / 255 * this.interval.widest[j] * (high[j] - low[j]);
    const [least, most] = [value - width(this.interval.below), value + width(this.interval.above)];
    return ` (${writeWithin(least, high[j] - low[j])} to ${writeWithin(most, high[j] - low[j])})`;
  }

  // One cell large, with words, in the panel beside the map.
  drawPanel(canvas, text, values, u, v, dimensions) {
    const k = this.cellAt(u, v), width = canvas.clientWidth || 232;
    const height = this.data.sheet ? width * this.data.sheet.height / this.data.sheet.width : 0.75 * width;
    canvas.style.height = `${height}px`;
    const context = sharpContext(canvas, width, height);
    context.imageSmoothingEnabled = false;
    context.globalAlpha = Math.max(0.25, this.share[k] / 255);
    this.drawCell(context, k, 0, 0, width, height);
    canvas.onpointermove = (event) => { canvas.title = this.nameAt(k, event.offsetX, width); };
    const place = dimensions === 1 ? `z = ${u.toFixed(2)}` : `z = (${u.toFixed(2)}, ${v.toFixed(2)})`;
    const doubt = this.share[k] ? "" : " No data near: the model extrapolates.";
    text.textContent = `${place}, log density ${this.logDensity[k].toFixed(2)}.${doubt}`;
    values.replaceChildren(...entryList(this.remarkable(k)));
  }
}

// A checkbox that fades the rows whose reliability is below the least one that can be believed.
function fadeUnreliable(scatter, colouring, about, box) {
  const values = colouring.columns.find((column) => column.group === "Reliability").own;
  box.parentElement.hidden = false;
  box.addEventListener("change", () => {
    scatter.faint = box.checked ? Uint8Array.from(values, (value) => (value < about.least ? 1 : 0)) : null;
    scatter.draw();
  });
}

function roomFor(canvas) {
  return canvas.parentElement.clientWidth - 2 * parseFloat(getComputedStyle(canvas.parentElement).paddingLeft);
}

// A canvas in the shape of the plane (or of a given height / width), never taller than wide.
function figureContext(canvas, [left, right, bottom, top], shape) {
  const room = roomFor(canvas), ratio = shape ?? DATA.map.shape ?? (top - bottom) / (right - left);
  const width = Math.min(room, room / ratio), height = width * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return { context: sharpContext(canvas, width, height), width, height };
}

// The density of a single dimension as a curve, its peak being one.
function drawCurve(context, values, start, across, height) {
  context.beginPath();
  context.moveTo(start, height);
  values.forEach((value, k) => context.lineTo(start + across * (k + 0.5) / values.length, height * (1 - 0.92 * value)));
  context.lineTo(start + across, height);
  context.fillStyle = `rgba(${cssValue("--density")}, 0.3)`;
  context.strokeStyle = cssValue("--accent");
  context.lineWidth = 2;
  context.fill();
  context.stroke();
}

// The density within the extent of the map, though its picture reaches a little further.
function drawDensity(canvas, data, image, extent) {
  const [left, right, bottom, top] = extent;
  const { context, width, height } = figureContext(canvas, extent, data.rows === 1 ? 0.2 : null);
  const sx = width / (right - left), sy = height / (top - bottom);
  const across = sx * (data.extent[1] - data.extent[0]);
  if (data.curve) return drawCurve(context, unpack(data.curve), sx * (data.extent[0] - left), across, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(tint(image, cssValue("--density"), 0.9), sx * (data.extent[0] - left), sy * (top - data.extent[3]), across, sy * (data.extent[3] - data.extent[2]));
  context.fillStyle = cssValue("--ink");
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "right";
  context.fillText(`densest: ${writeNumber(data.peak)}`, width - 8, height - 8);
}

async function start() {
  const map = DATA.map, byId = (id) => document.getElementById(id);
  if (!map) {
    document.documentElement.dataset.ready = "yes";
    return;
  }
  const picture = (about) => (about ? loadImage(about.src) : null);
  const [thumbnails, sheet, density] = await Promise.all(
    [picture(map.thumbnails), picture(DATA.forward && DATA.forward.sheet), picture(DATA.density)]);
  byId("map").classList.toggle("line", map.dimensions === 1);
  const scatter = new Scatter(byId("scatter"), unpack(map.points), map.extent, map.axes, map.shape !== null);
  byId("scatter").scatter = scatter;   // so that a script can ask where a row is on the page
  const colouring = new Colouring(scatter, map, byId("legend"));
  const tooltip = new Tooltip(byId("tooltip"), byId("scatter").parentElement, colouring, map, thumbnails);
  new Selection(scatter, colouring, map, thumbnails);
  const forward = DATA.forward ? new ForwardMap(DATA.forward, map.extent, sheet) : null;
  const informed = await startInformed();
  const panel = (u, v) => forward.drawPanel(
    byId("forward-view"), byId("forward-text"), byId("forward-values"), u, v, map.dimensions);

  const pictures = () => {
    const shown = density && byId("show-density").checked;
    scatter.underlay = shown ? { image: tint(density, cssValue("--density"), 0.24), extent: DATA.density.extent } : null;
    if (density) drawDensity(byId("density-picture"), DATA.density, density, map.extent);
    if (forward) forward.drawMosaic(byId("mosaic"));
    scatter.draw();
  };
  const everything = () => { colouring.show(colouring.current); pictures(); informed(); };

  colouring.fillSelect(byId("colour"));
  byId("forward-panel").hidden = !forward;
  byId("forward-interval").hidden = !forward?.interval;
  byId("show-density").parentElement.hidden = !density;
  byId("show-density").addEventListener("change", pictures);
  if (map.reliability) fadeUnreliable(scatter, colouring, map.reliability, byId("fade"));
  byId("zoom-in").addEventListener("click", () => scatter.zoom(1.4));
  byId("zoom-out").addEventListener("click", () => scatter.zoom(1 / 1.4));
  byId("zoom-reset").addEventListener("click", () => scatter.reset());
  scatter.on("hover", (x, y, row) => {
    scatter.marked = row;
    scatter.draw();
    if (row >= 0) tooltip.show(row, x, y); else tooltip.hide();
    if (forward) panel(...scatter.toPlane(x, y));
  });
  const find = byId("find");
  const seek = () => {
    const row = tooltip.find(find.value);
    find.setAttribute("aria-invalid", String(row < 0 && find.value.trim() !== ""));
    if (row >= 0) scatter.goTo(row); else scatter.emit("leave");
  };
  for (const event of ["input", "focus"]) find.addEventListener(event, seek);
  scatter.on("leave", () => { scatter.marked = -1; scatter.draw(); tooltip.hide(); });
  let hiding;
  scatter.on("refuse", () => {
    byId("hint").hidden = false;
    clearTimeout(hiding);
    hiding = setTimeout(() => { byId("hint").hidden = true; }, 1400);
  });
  window.addEventListener("resize", () => { pictures(); informed(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", everything);
  everything();
  if (forward) panel(map.extent[0] / 2 + map.extent[1] / 2, map.extent[2] / 2 + map.extent[3] / 2);
  document.documentElement.dataset.ready = "yes";
}

start();
