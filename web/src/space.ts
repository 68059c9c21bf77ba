// A map of three dimensions, turned and seen from the front: x goes right, y up, z towards the eye.

import type { Drawing } from "./points";

export type Turn = number[]; // rotation, 3 by 3, row after row

const START: Turn = around(0.42, 0, around(-0.62, 1, [1, 0, 0, 0, 1, 0, 0, 0, 1]));

// A rotation by `angle` about the axis of the screen (0: x, 1: y, 2: z), after the rotation `turn`.
export function around(angle: number, axis: number, turn: Turn): Turn {
  const [c, s] = [Math.cos(angle), Math.sin(angle)], [a, b] = [(axis + 1) % 3, (axis + 2) % 3], out = [...turn];
  for (let k = 0; k < 3; k++) {
    out[3 * a + k] = c * turn[3 * a + k] - s * turn[3 * b + k];
    out[3 * b + k] = s * turn[3 * a + k] + c * turn[3 * b + k];
  }
  return out;
}

export class Space {
  turn: Turn = START;
  private centre = [0, 0, 0];

  constructor(readonly places: Float32Array) {
    const sums = [0, 0, 0], n = places.length / 3;
    let known = 0;
    for (let i = 0; i < n; i++) {
      if (Number.isNaN(places[3 * i])) continue;
      known++;
      for (let k = 0; k < 3; k++) sums[k] += places[3 * i + k];
    }
    this.centre = sums.map((sum) => sum / Math.max(1, known));
  }

  rotate(right: number, down: number): void { this.turn = around(down, 0, around(right, 1, this.turn)); }

  // What the eye sees: x and y of every row.
  seen(): Float32Array {
    const n = this.places.length / 3, out = new Float32Array(2 * n), [a, b, c, d, e, f] = this.turn, [u, v, w] = this.centre, P = this.places;
    for (let i = 0; i < n; i++) {
      const x = P[3 * i] - u, y = P[3 * i + 1] - v, z = P[3 * i + 2] - w;
      out[2 * i] = a * x + b * y + c * z;
      out[2 * i + 1] = d * x + e * y + f * z;
    }
    return out;
  }

  depth(row: number): number {
    const [, , , , , , g, h, i] = this.turn, P = this.places, [u, v, w] = this.centre;
    return g * (P[3 * row] - u) + h * (P[3 * row + 1] - v) + i * (P[3 * row + 2] - w);
  }

  // Rows from the back to the front, in 1,024 slices, so that near points are drawn over far ones; and how near, 0 to 1.
  drawing(): Drawing {
    const n = this.places.length / 3, depth = new Float32Array(n), slices = 1024, start = new Uint32Array(slices + 1);
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < n; i++) { const z = this.depth(i); depth[i] = z; if (z < low) low = z; if (z > high) high = z; }
    const scale = high > low ? (slices - 1) / (high - low) : 0, slice = (z: number) => (Number.isNaN(z) ? 0 : Math.floor((z - low) * scale));
    for (let i = 0; i < n; i++) start[slice(depth[i]) + 1]++;
    for (let k = 0; k < slices; k++) start[k + 1] += start[k];
    const out = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
      out[start[slice(depth[i])]++] = i;
      depth[i] = high > low ? (depth[i] - low) / (high - low) : 0.5;
    }
    return { order: out, near: depth };
  }

  // A direction on the screen as one in the map.
  direction(x: number, y: number): [number, number, number] { return [0, 1, 2].map((k) => this.turn[k] * x + this.turn[3 + k] * y) as [number, number, number]; }

  // The place in the map that is seen at (x, y), as deep as a row, or as the middle.
  lift(x: number, y: number, row: number): [number, number, number] {
    const z = row >= 0 ? this.depth(row) : 0, t = this.turn;
    return [0, 1, 2].map((k) => t[k] * x + t[3 + k] * y + t[6 + k] * z + this.centre[k]) as [number, number, number];
  }
}
