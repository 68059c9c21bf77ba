// Colours of columns: Okabe and Ito for categories (then the same lighter and darker), viridis for numbers, a circle for angles.

import type { Column } from "./types";

export type Rgb = [number, number, number];

const BASE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442"];
const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const CYCLE = ["#e69d12", "#b7ac00", "#69ac3c", "#06976d", "#007a7a", "#006581", "#0053a5", "#5546af", "#8c47a8", "#c05296", "#e86777", "#f8834a"];
export const MISSING: Rgb = [154, 154, 154];
const PLAIN: Rgb = [0, 114, 178];

function rgb(hex: string): Rgb { return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb; }

function mixed(one: Rgb, other: Rgb, share: number): Rgb { return one.map((value, k) => Math.round(value + share * (other[k] - value))) as Rgb; }

export function ofLevel(level: number): Rgb {
  const own = rgb(BASE[level % BASE.length]), turn = Math.floor(level / BASE.length) % 3;
  return turn === 0 ? own : mixed(own, turn === 1 ? [0, 0, 0] : [255, 255, 255], 0.42);
}

function along(stops: string[], share: number, closed: boolean): Rgb {
  const last = closed ? stops.length : stops.length - 1, at = Math.min(Math.max(share, 0), 1) * last, k = Math.min(Math.floor(at), last - 1);
  return mixed(rgb(stops[k]), rgb(stops[(k + 1) % stops.length]), at - k);
}

export function ofNumber(column: Column, value: number): Rgb {
  if (column.period) return along(CYCLE, (((value % column.period) + column.period) % column.period) / column.period, true);
  const low = column.low ?? 0, high = column.high ?? 1;
  return along(VIRIDIS, high > low ? (value - low) / (high - low) : 0.5, false);
}

// RGB of every row, and viridis in 256 steps so that a million rows need no mixing each.
export function ofRows(column: Column | null, values: Float32Array | null, n: number): Uint8Array {
  const out = new Uint8Array(3 * n);
  const steps: Rgb[] = [];
  if (column?.kind === "numbers") for (let k = 0; k < 256; k++) steps.push(ofNumber(column, stepValue(column, k)));
  const levels = column?.levels?.map((_, k) => ofLevel(column.colours?.[k] ?? k)) ?? [];
  for (let i = 0; i < n; i++) {
    let own: Rgb = PLAIN;
    if (column && values) {
      const value = values[i];
      if (column.kind === "categories") own = value < 0 ? MISSING : levels[value];
      else own = Number.isNaN(value) ? MISSING : steps[stepOf(column, value)];
    }
    out[3 * i] = own[0]; out[3 * i + 1] = own[1]; out[3 * i + 2] = own[2];
  }
  return out;
}

function ends(column: Column): [number, number] { return column.period ? [0, column.period] : [column.low ?? 0, column.high ?? 1]; }

function stepValue(column: Column, step: number): number {
  const [low, high] = ends(column);
  return low + (step / 255) * (high - low);
}

function stepOf(column: Column, value: number): number {
  const [low, high] = ends(column);
  const turned = column.period ? ((value % column.period) + column.period) % column.period : value;
  return Math.min(255, Math.max(0, Math.round((high > low ? (turned - low) / (high - low) : 0.5) * 255)));
}

export const css = (colour: Rgb): string => `rgb(${colour.join(",")})`;
