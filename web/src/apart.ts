// What sets rows apart, computed in the page: the same numbers as sidelight.explorer._apart.

import type { Feature } from "./types";

type Values = (row: number, feature: number) => number; // NaN: missing
interface Moments { n: number; mean: number; variance: number }

const LISTED = 60, QUANTILE = 1.959963984540054, LARGEST = 99;

// Features by the size of their effect: differences of means in standard deviations, with intervals and false discovery rates.
// `everyone` are all rows of the data.
export function apart(names: string[], value: Values, rows: number[], rest: number[], everyone: number[]): Feature[] {
  if (!rows.length || !rest.length) return [];
  const found = names.map((name, k) => ({ name, ...compared(moments(value, rows, k), moments(value, rest, k), () => moments(value, everyone, k)) }));
  const rates = falseDiscoveryRates(found.map(({ p }) => (Number.isFinite(p) ? p : 1)));
  return found.map(({ p, ...one }, k) => ({ ...one, fdr: rates[k] })).filter(({ effect }) => Number.isFinite(effect))
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect)).slice(0, LISTED);
}

// Mean of each feature over some rows.
export function means(d: number, value: Values, rows: number[]): number[] { return Array.from({ length: d }, (_, k) => moments(value, rows, k).mean); }

function moments(value: Values, rows: number[], k: number): Moments {
  let n = 0, sum = 0, squares = 0;
  for (const row of rows) { const x = value(row, k); if (!Number.isNaN(x)) { n++; sum += x; } }
  const mean = sum / n;
  for (const row of rows) { const x = value(row, k); if (!Number.isNaN(x)) squares += (x - mean) * (x - mean); }
  return { n, mean, variance: n > 1 ? squares / (n - 1) : 0 };
}

function compared(one: Moments, two: Moments, all: () => Moments): Omit<Feature, "name" | "fdr"> & { p: number } {
  const { n } = one, m = two.n, moved = one.mean - two.mean, few = Math.min(n, m) < 2, alone = n < 2 && m < 2;
  const whole = alone ? all() : null, pooled = whole ? whole.variance : ((n - 1) * one.variance + (m - 1) * two.variance) / Math.max(n + m - 2, 1);
  const effect = pooled > 0 ? moved / Math.sqrt(pooled) : LARGEST * Math.sign(moved);
  // One entry has no variance of its own: that of the others stands for it, for two such entries that of all rows.
  const [a, b] = few ? [pooled / n, pooled / m] : [one.variance / n, two.variance / m];
  const error = Math.sqrt((pooled > 0 ? (a + b) / pooled : 1 / n + 1 / m) + effect ** 2 / (2 * (n + m)));
  const freedom = whole ? Math.max(whole.n - 1, 1) : few ? n + m - 2 : (a + b) ** 2 / (a ** 2 / (n - 1) + b ** 2 / (m - 1));
  const p = a + b > 0 ? twoSided(Math.abs(moved) / Math.sqrt(a + b), freedom) : moved === 0 || few ? 1 : 0;
  return { here: one.mean, there: two.mean, effect, low: effect - QUANTILE * error, high: effect + QUANTILE * error, p };
}

// Benjamini and Hochberg's adjusted p-values.
function falseDiscoveryRates(p: number[]): number[] {
  const order = [...p.keys()].sort((a, b) => p[b] - p[a]), out = new Array<number>(p.length);
  let least = 1;
  order.forEach((at, k) => { least = Math.min(least, (p[at] * p.length) / (p.length - k)); out[at] = least; });
  return out;
}

// P(|T| > t) of Student's distribution.
function twoSided(t: number, freedom: number): number { return incompleteBeta(freedom / 2, 0.5, freedom / (freedom + t * t)); }

// The regularised incomplete beta function by its continued fraction (DLMF 8.17.22), by Lentz's method.
function incompleteBeta(a: number, b: number, x: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const tiny = 1e-300, safe = (y: number) => (Math.abs(y) < tiny ? tiny : y);
  let c = 1, d = 1 / safe(1 - ((a + b) * x) / (a + 1)), fraction = d;
  for (let k = 1; k < 1000; k++) {
    for (const step of [(k * (b - k) * x) / ((a + 2 * k - 1) * (a + 2 * k)), (-(a + k) * (a + b + k) * x) / ((a + 2 * k) * (a + 2 * k + 1))]) {
      d = 1 / safe(1 + step * d);
      c = safe(1 + step / c);
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return (Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) * fraction) / a;
}

// Lanczos' series with g = 7.
function logGamma(x: number): number {
  const series = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  const sum = series.reduce((total, term, k) => total + term / (x + k), 0.99999999999980993), t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}
