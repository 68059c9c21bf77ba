// Find rows by number, name or value: matches are ringed on the map, Enter goes to the next one.

import { button, fill, make } from "./dom";
import type { Asks } from "./values";

export class Search {
  matches: number[] = [];
  private at = -1;
  private asked = 0;
  private timer = 0;
  private input = make("input", { type: "search", "aria-label": "Find rows by number, name or value", placeholder: "Find rows", size: 12, maxLength: 200 });
  private told = make("span", { class: "note", role: "status", id: "found" });

  constructor(box: HTMLElement, private asks: Asks, private tried: (work: () => Promise<void>) => Promise<void>,
    private passes: (row: number) => boolean, private on: { found: (rows: number[]) => void; go: (row: number) => void; select: (rows: number[]) => void }) {
    const next = button("›", () => this.step(1), { "aria-label": "Next match" }), before = button("‹", () => this.step(-1), { "aria-label": "Match before" });
    const all = button("Select all", () => this.on.select(this.matches), { "aria-label": "Select all matches" });
    const more = make("span", { class: "tools", hidden: true }, before, next, all);
    this.input.addEventListener("input", () => { clearTimeout(this.timer); this.timer = window.setTimeout(() => void this.look(more), 160); });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { this.input.value = ""; void this.look(more); }
      else if (event.key === "Enter") { event.preventDefault(); clearTimeout(this.timer); void this.look(more).then(() => this.step(event.shiftKey ? -1 : 1)); }
    });
    fill(box, this.input, this.told, more);
  }

  // Filters have changed: matches that do not pass are none.
  async again(): Promise<void> { if (this.input.value.trim()) { this.last = ""; await this.look(this.told.nextElementSibling as HTMLElement); } }

  private last = "";
  private answer: Promise<void> = Promise.resolve(); // to the last text: who presses Enter twice waits for it twice

  private look(more: HTMLElement): Promise<void> {
    const text = this.input.value.trim();
    if (text === this.last) return this.answer;
    this.last = text;
    const asked = ++this.asked;
    return (this.answer = this.tried(async () => {
      const rows = text ? [...(await this.asks.numbers(`search?text=${encodeURIComponent(text)}`))] : [];
      if (asked !== this.asked) return;
      this.matches = rows.filter((row) => this.passes(row));
      this.at = -1;
      this.say();
      more.hidden = !this.matches.length;
      this.on.found(this.matches);
    }));
  }

  private step(by: number): void {
    const n = this.matches.length;
    if (!n) return;
    this.at = this.at < 0 ? (by > 0 ? 0 : n - 1) : (this.at + by + n) % n;
    this.say();
    this.on.go(this.matches[this.at]);
  }

  private say(): void {
    const n = this.matches.length;
    this.told.textContent = !this.last ? "" : !n ? "no row" : this.at < 0 ? `${n.toLocaleString("en")} found` : `${(this.at + 1).toLocaleString("en")} of ${n.toLocaleString("en")}`;
  }
}
