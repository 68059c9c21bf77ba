"use strict";
// What every picture of the report shares: typed arrays, colours, markers, canvases as sharp as the screen.

function unpack(packed) {
  const types = {
    float32: Float32Array, float64: Float64Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array, uint16: Uint16Array,
  };
  const bytes = Uint8Array.from(atob(packed.base64), (letter) => letter.charCodeAt(0));
  const values = new types[packed.dtype](bytes.buffer);
  if (!packed.of) return values;
  const distinct = unpack(packed.of);   // a column of few distinct values: codes, and the values
  return distinct.constructor.from(values, (code) => distinct[code]);
}

function cssValue(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function loadImage(address) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error("a picture of the report is damaged"));
    image.src = address;
  });
}

// Give a canvas the size it has on the page, in device pixels; return its context scaled to page pixels.
function sharpContext(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// viridis at nine places; between them straight lines in RGB, which differ from it by less than the eye sees.
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141],
                 [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];

function between(colours, share) {
  const place = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const k = Math.min(Math.floor(place), colours.length - 2);
  const mixed = colours[k].map((low, c) => Math.round(low + (colours[k + 1][c] - low) * (place - k)));
  return `rgb(${mixed.join(",")})`;
}

function viridis(share) { return between(VIRIDIS, share); }

// A share of a full turn as a colour of the circle, given as #rrggbb.
function circle(share, cycle) {
  const read = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return between([...cycle, cycle[0]].map(read), share);
}

// Circle, triangle, square, diamond: the same order as sidelight.plot.
function traceMarker(context, shape, x, y, r) {
  context.beginPath();
  if (shape === 0) {
    context.arc(x, y, r, 0, 2 * Math.PI);
  } else {
    const corners = [
      [[0, -1.25], [1.1, 0.75], [-1.1, 0.75]],
      [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
      [[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]],
    ][shape - 1];
    corners.forEach(([u, v], k) => context[k ? "lineTo" : "moveTo"](x + r * u, y + r * v));
    context.closePath();
  }
}

// A marker drawn once, to be stamped thousands of times.
function markerStamp(colour, shape, radius, edge) {
  const ratio = window.devicePixelRatio || 1;
  const side = Math.ceil((2.8 * radius + 2) * ratio);
  const stamp = document.createElement("canvas");
  stamp.width = stamp.height = side;
  const context = stamp.getContext("2d");
  traceMarker(context, shape, side / 2, side / 2, radius * ratio);
  context.fillStyle = colour;
  context.fill();
  if (edge) {
    context.strokeStyle = edge;
    context.lineWidth = 0.7 * ratio;
    context.stroke();
  }
  return { image: stamp, side: side / ratio, ...dotsOf(context, side) };
}

// The pixels that a marker covers, counted from its middle, and its colour as one number.
function dotsOf(context, side) {
  const { data } = context.getImageData(0, 0, side, side), middle = Math.floor(side / 2), dots = [];
  for (let k = 0; k < side * side; k++) {
    if (data[4 * k + 3] > 127) dots.push([(k % side) - middle, Math.floor(k / side) - middle]);
  }
  const at = 4 * (middle * side + middle);
  return { dots, colour: new Uint32Array(data.slice(at, at + 4).buffer)[0] };
}

function writeNumber(value) {
  if (!Number.isFinite(value)) return "missing";
  if (Number.isInteger(value)) return Math.abs(value) < 1e4 ? String(value) : value.toLocaleString("en");   // years
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(3) : String(+value.toPrecision(4));
}

// A number of values that span a range: three digits, and zero where it is less than a ten thousandth of the range.
function writeWithin(value, range) {
  const unit = range > 0 ? 10 ** (Math.floor(Math.log10(range)) - 3) : 0;
  return writeNumber(+(unit ? Math.round(value / unit) * unit : value).toPrecision(3));
}

// A number of a column as people write it: days since 1970 as a date, with the time of day where there is one.
function writeEntry(column, value) {
  if (!column.date || !Number.isFinite(value)) return writeNumber(value);
  const text = new Date(Math.round(value * 86400) * 1000).toISOString();
  return value % 1 ? text.slice(0, 16).replace("T", " ") : text.slice(0, 10);
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Round numbers between two ends: steps of 1, 2 or 5 times a power of ten.
function niceTicks(low, high, most) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * (1 - 1e-9));
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(+(k * step).toPrecision(12));
  return ticks;
}

// A grey picture of shares (0..255) as a picture of one colour whose opacity is the share.
function tint(image, colour, strongest) {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = context.getImageData(0, 0, image.width, image.height);
  const [red, green, blue] = colour.split(",").map(Number);
  for (let k = 0; k < pixels.data.length; k += 4) {
    pixels.data[k + 3] = pixels.data[k] * strongest;
    pixels.data[k] = red; pixels.data[k + 1] = green; pixels.data[k + 2] = blue;
  }
  context.putImageData(pixels, 0, 0);
  return canvas;
}
