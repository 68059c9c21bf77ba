// What the server says; `sidelight.explorer._explorer.Explorer.state` writes it.

export type Given = Record<string, string | number>;

export interface Column {
  name: string;
  feature: boolean;
  kind: "numbers" | "categories";
  low?: number | null;
  high?: number | null;
  period?: number | null;
  date?: boolean; // numbers are days since 1970
  levels?: string[];
  colours?: number[]; // where rare categories share one: the number of each level's colour
  legend?: string[]; // and what these colours are called
}

export interface Control { name: string; kind: string; values?: string[]; low?: number; high?: number }

export interface Job {
  state: "none" | "running" | "done" | "failed" | "stopped";
  message: string;
  progress: { stage?: number; stages?: number; iteration?: number };
  seconds: number;
  version?: number;
}

export interface State {
  version: number;
  title: string;
  rows: number;
  dims: number;
  features: string[];
  texts: string[];
  dates: string[]; // features whose numbers are days since 1970
  image: [number, number] | null;
  range: [number, number];
  columns: Column[];
  axes: string[]; // what each axis shows; empty where it has no name
  moved: unknown[]; // statements that moved rows and that the map does not follow yet
  statements: Stated[];
  maps: { number: number; words: string }[];
  current: number;
  fresh: boolean;
  controls: Control[];
  say: Record<string, boolean>;
  can: Record<string, boolean>;
  reliability: { column: string; state: "none" | "running" | "done" | "failed"; message?: string; seconds?: number };
  model: string;
  remarks: string[];
  seconds: number;
  code: { python: string; command: string };
  job: Job;
  kept?: string[]; // sentences of a page that is a file: why something is off
}

export interface Stated { kind: string; words: string; on: boolean; column: string; value: string; count: number; others: number }
export interface Row { row: number; name: string; columns: Record<string, unknown>; values: number[]; texts: (string | null)[] }
export interface Decoded { values: number[] | null; texts?: (string | null)[]; typicality: number | null }

export interface Feature { name: string; here: number; there: number; effect: number; low: number; high: number; fdr: number }
export interface Summary {
  count: number;
  others: number;
  columns: { name: string; range?: [number, number, number]; date?: boolean; values: { value: string; count: number }[] }[];
  features: Feature[];
  after?: string[];
  here_mean?: number[];
  there_mean?: number[];
  unknown?: boolean; // of a page that is a file without the rows' features
}

export interface Layer { size: number; extent: number[]; low: number; high: number; values: number[]; weights?: number[] }

export interface Measures {
  trustworthiness: number;
  rest?: number | null; // trustworthiness beside the rows without the effect of what was given
  after?: string[];
  reconstruction: number | null;
  columns: { name: string; value: number; chance: number; kind: string }[];
}

export interface Counterfactual { rows: { row: number; now: number[]; then: number[] }[]; remarks: string[] }
