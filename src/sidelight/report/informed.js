// What was given: the small maps beside each other, and the grids of the forward map across it.

function smallMaps(data) {
  if (!data || !data.maps) return [];
  return data.maps.map((about, k) => {
    const canvas = document.getElementById(`given-map-${k}`);
    const scatter = new Scatter(canvas, unpack(about.points || DATA.map.points), about.extent, about.axes, false);
    const columns = about.columns.map((column) => (column.offered === undefined ? column : DATA.map.columns[column.offered]));
    const colouring = new Colouring(scatter, { ...data, columns }, document.getElementById(`given-legend-${k}`));
    const select = document.getElementById(`given-colour-${k}`);
    colouring.fillSelect(select);
    select.hidden = about.columns.length < 2;
    canvas.scatter = scatter;
    return { scatter, colouring, same: about.same };
  });
}

const LABELS = 84;   // room for the names of the lines

class AcrossGrid {
  constructor(data, sheet, k, moved) {
    Object.assign(this, { data, k, moved, map: new ForwardMap(data, null, sheet) });
    this.byId = (name) => document.getElementById(`across-${name}-${k}`);
    for (const name of ["value", "place"]) this.byId(name).addEventListener("input", () => this.draw());
    this.byId("grid").addEventListener("click", (event) => this.pick(event));
  }

  get chosen() { return [Number(this.byId("value").value), Number(this.byId("place").value)]; }

  pick(event) {
    const row = Math.floor(event.offsetY / this.tall), column = Math.floor((event.offsetX - LABELS) / this.cell);
    if (row < 0 || column < 0 || row >= this.data.rows || column >= this.data.columns) return;
    this.byId("value").value = row;
    this.byId("place").value = column;
    this.draw();
  }

  draw() {
    const canvas = this.byId("grid"), { rows, columns, values } = this.data;
    const ratio = this.data.sheet ? this.data.sheet.height / this.data.sheet.width : 1, width = roomFor(canvas);
    this.cell = (width - LABELS) / columns;
    this.tall = this.cell * ratio;
    canvas.style.height = `${rows * this.tall}px`;
    const context = sharpContext(canvas, width, rows * this.tall), [value, place] = this.chosen;
    context.font = "13px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (let row = 0; row < rows; row++) {
      context.globalAlpha = 1;
      context.fillStyle = cssValue(row === value ? "--accent" : "--soft");
      context.fillText(values[row], 2, (row + 0.5) * this.tall, LABELS - 10);
      for (let column = 0; column < columns; column++) {
        const k = row * columns + column;
        context.globalAlpha = Math.max(0.15, this.map.share[k] / 255);
        this.map.drawCell(context, k, LABELS + column * this.cell, row * this.tall, this.cell - 2, this.tall - 2);
      }
    }
    context.globalAlpha = 1;
    context.strokeStyle = cssValue("--accent");
    context.lineWidth = 2.5;
    context.strokeRect(LABELS + place * this.cell, value * this.tall, this.cell - 2, this.tall - 2);
    this.drawView(value, place, ratio);
    this.moved(this.data.places[place]);
  }

  // The chosen cell large, with its most remarkable features.
  drawView(value, place, ratio) {
    const canvas = this.byId("view"), k = value * this.data.columns + place, width = canvas.clientWidth || 232;
    const height = this.data.sheet ? width * ratio : 0.75 * width;
    canvas.style.height = `${height}px`;
    const context = sharpContext(canvas, width, height);
    context.imageSmoothingEnabled = false;
    this.map.drawCell(context, k, 0, 0, width, height);
    canvas.onpointermove = (event) => { canvas.title = this.map.nameAt(k, event.offsetX, width); };
    const doubt = this.map.share[k] ? "" : ", extrapolated";
    this.byId("text").textContent = `${this.data.name} = ${this.data.values[value]}, place ${place + 1} of ${this.data.columns}${doubt}`;
    this.byId("values").replaceChildren(...entryList(this.map.remarkable(k)));
  }
}

// Everything about what was given; returns what draws it again when the page changes.
async function startInformed() {
  const maps = smallMaps(DATA.given), grids = DATA.across ? DATA.across.grids : [];
  const mark = (row) => maps.forEach(({ scatter, same }) => { if (same) { scatter.marked = row; scatter.draw(); } });
  const sheets = await Promise.all(grids.map((grid) => (grid.sheet ? loadImage(grid.sheet.src) : null)));
  const drawn = grids.map((grid, k) => new AcrossGrid(grid, sheets[k], k, mark));
  return () => {
    maps.forEach(({ colouring }) => colouring.show(colouring.current));
    drawn.forEach((grid) => grid.draw());
  };
}
