// A selection of rows compared with all others, in the columns that the page stores: what differs in the data.

const MOST_DIFFERENCES = 10;

// Mean, variance and number of the known values of some rows.
function moments(values, rows) {
  let n = 0, sum = 0, squares = 0;
  const shift = values[rows.find((i) => Number.isFinite(values[i]))];
  for (const i of rows) if (Number.isFinite(values[i])) { const v = values[i] - shift; n++; sum += v; squares += v * v; }
  return { n, mean: shift + sum / n, variance: n > 1 ? Math.max(0, (squares - sum * sum / n) / (n - 1)) : NaN };
}

// The 97.5 % quantile of Student's t (Cornish and Fisher), close from three degrees of freedom on.
function tQuantile(freedom) {
  const z = 1.959964, f = Math.max(freedom, 1);
  return z + (z ** 3 + z) / (4 * f) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * f * f);
}

// Difference of means in standard deviations within the two sides, with Welch's interval of 95 %.
function numbersDiffer(column, own, others) {
  const a = moments(column.own, own), b = moments(column.own, others);
  if (a.n < 2 || b.n < 2) return null;
  const spread = Math.sqrt((a.variance + b.variance) / 2), [s, t] = [a.variance / a.n, b.variance / b.n];
  if (!(spread > 0)) return null;
  const freedom = (s + t) ** 2 / (s * s / (a.n - 1) + t * t / (b.n - 1)), half = tQuantile(freedom) * Math.sqrt(s + t) / spread;
  const written = (value) => writeEntry(column, column.date ? Math.round(value) : +value.toPrecision(4));
  return { name: column.name, here: written(a.mean), there: written(b.mean), effect: (a.mean - b.mean) / spread, half };
}

// The category whose share differs most, in standard deviations of its indicator; interval of Agresti and Caffo.
function sharesDiffer(column, own, others) {
  const count = (rows) => {
    const found = new Map();
    let n = 0;
    for (const i of rows) if (column.own[i] >= 0) { n++; found.set(column.own[i], (found.get(column.own[i]) || 0) + 1); }
    return { n, found };
  };
  const a = count(own), b = count(others);
  if (a.n < 2 || b.n < 2) return null;
  let best = null;
  for (const code of new Set([...a.found.keys(), ...b.found.keys()])) {
    const [x, y] = [a.found.get(code) || 0, b.found.get(code) || 0], p = (x + y) / (a.n + b.n);
    const [u, v] = [(x + 1) / (a.n + 2), (y + 1) / (b.n + 2)], spread = Math.sqrt(p * (1 - p));
    if (!(spread > 0)) continue;
    const half = 1.959964 * Math.sqrt(u * (1 - u) / (a.n + 2) + v * (1 - v) / (b.n + 2)) / spread, effect = (u - v) / spread;
    const level = (column.entries || column.levels)[code], percent = (k, n) => `${Math.round(100 * k / n)} %`;
    if (level != null && (!best || Math.abs(effect) > Math.abs(best.effect)))
      best = { name: `${column.name}: ${level}`, here: percent(x, a.n), there: percent(y, b.n), effect, half };
  }
  return best;
}

// Columns by how far the interval of their difference is from zero, then by the difference.
function differences(columns, own, others) {
  const found = columns.filter((column) => !column.period)
    .map((column) => (column.kind === "numbers" ? numbersDiffer : sharesDiffer)(column, own, others)).filter(Boolean);
  const sure = (one) => Math.max(0, Math.abs(one.effect) - one.half);
  return found.sort((a, b) => sure(b) - sure(a) || Math.abs(b.effect) - Math.abs(a.effect));
}

class Selection {
  constructor(scatter, colouring, data, sheet) {
    Object.assign(this, { scatter, colouring, data, sheet });
    this.byId = (id) => document.getElementById(id);
    this.byId("lasso").addEventListener("click", () => this.toggle(!scatter.lassoing));
    this.byId("in-view").addEventListener("click", () => this.choose((x, y) => x >= 0 && y >= 0 && x <= scatter.width && y <= scatter.height));
    this.byId("clear-selection").addEventListener("click", () => this.clear());
    scatter.on("lasso", (path) => { this.toggle(false); this.choose((x, y) => insideOf(path, x, y)); });
  }

  toggle(on) {
    this.scatter.lassoing = on;
    this.byId("lasso").setAttribute("aria-pressed", String(on));
    this.scatter.canvas.classList.toggle("lassoing", on);
  }

  clear() {
    this.scatter.selected = null;
    this.byId("selection").hidden = true;
    this.byId("clear-selection").hidden = true;
    this.byId("lasso").focus();
    this.scatter.draw();
  }

  // Select the rows whose place on the page is in an area; hidden ones are on neither side.
  choose(within) {
    const { scatter } = this, own = [], others = [], selected = new Uint8Array(scatter.n);
    for (let i = 0; i < scatter.n; i++) {
      if (scatter.hidden.has(scatter.style[i])) continue;
      const inside = within(...scatter.toPage(scatter.points[2 * i], scatter.points[2 * i + 1]));
      if (inside) selected[i] = 1;
      (inside ? own : others).push(i);
    }
    scatter.selected = own.length ? selected : null;
    scatter.draw();
    this.byId("selection").hidden = this.byId("clear-selection").hidden = false;
    this.show(own, others);
  }

  show(own, others) {
    const table = this.byId("selection-table"), pictures = this.byId("selection-pictures"), text = this.byId("selection-text");
    const few = own.length < 2 || others.length < 2, write = (n) => `${n.toLocaleString("en")} ${n === 1 ? "row" : "rows"}`;
    table.replaceChildren();
    pictures.replaceChildren(...(few || !this.sheet ? [] : this.meanPictures(own, others)));
    const found = few ? [] : differences(this.colouring.columns.filter((column) => column.group !== "Reliability"), own, others);
    const sure = found.filter((one) => Math.abs(one.effect) > one.half).length;
    const listed = found.length > MOST_DIFFERENCES ? `; the ${MOST_DIFFERENCES} that differ most are listed` : "";
    const said = found.length ? ` ${sure} of ${found.length} stored columns differ${listed}.` : "";
    text.textContent = `${write(own.length)} selected, compared with the other ${others.length.toLocaleString("en")}.`
      + (few ? " Each side needs two rows or more." : said);
    if (!found.length) return;
    const head = ["column", "selected", "others", "difference in SD (95 %)"];
    table.append(element("thead", {}, element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)))));
    const body = element("tbody"), sign = (v) => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(1)}`;
    for (const one of found.slice(0, MOST_DIFFERENCES)) {
      const interval = `${sign(one.effect)} (${sign(one.effect - one.half)} to ${sign(one.effect + one.half)})`;
      body.append(element("tr", {}, element("th", { scope: "row" }, one.name), ...[one.here, one.there, interval].map((cell) => element("td", {}, cell))));
    }
    table.append(body);
  }

  // Mean pictures of both sides, and their difference: blue where the selected rows are brighter, orange where darker.
  meanPictures(own, others) {
    const about = this.data.thumbnails, canvas = element("canvas"), size = about.width * about.height;
    canvas.width = this.sheet.width; canvas.height = this.sheet.height;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(this.sheet, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height), sums = [];
    for (const rows of [own, others]) {
      const sum = new Float64Array(3 * size), shown = rows.filter((row) => row % about.every === 0);
      for (const row of shown) {
        const k = row / about.every, left = (k % about.columns) * about.width, top = Math.floor(k / about.columns) * about.height;
        for (let p = 0; p < size; p++) {
          const at = 4 * ((top + Math.floor(p / about.width)) * canvas.width + left + p % about.width);
          for (let c = 0; c < 3; c++) sum[3 * p + c] += data[at + c] / shown.length;
        }
      }
      sums.push(sum);
    }
    const less = sums[0].map((value, k) => value - sums[1][k]), most = Math.max(1, ...less.map(Math.abs));
    const signed = (p) => [0, 1, 2].reduce((total, c) => total + less[3 * p + c] / 3, 0);
    const pictures = [
      ["selected", (p) => [...sums[0].slice(3 * p, 3 * p + 3), 255]], ["others", (p) => [...sums[1].slice(3 * p, 3 * p + 3), 255]],
      ["difference", (p) => [...(signed(p) >= 0 ? [0, 114, 178] : [213, 94, 0]), 255 * Math.abs(signed(p)) / most]],
    ];
    return pictures.map(([name, colour]) => {
      const drawn = element("canvas", { role: "img", "aria-label": `mean picture: ${name}` });
      drawn.width = about.width; drawn.height = about.height;
      const pixels = new ImageData(about.width, about.height);
      for (let p = 0; p < size; p++) pixels.data.set(colour(p), 4 * p);
      drawn.getContext("2d").putImageData(pixels, 0, 0);
      return element("figure", {}, drawn, element("figcaption", {}, name));
    });
  }
}

// Whether a place is inside a closed path: a ray to the right crosses it an odd number of times.
function insideOf(path, x, y) {
  let inside = false;
  for (let k = 0, last = path.length - 1; k < path.length; last = k++) {
    const [u, v] = path[k], [s, t] = path[last];
    if ((v > y) !== (t > y) && x < (s - u) * (y - v) / (t - v) + u) inside = !inside;
  }
  return inside;
}
