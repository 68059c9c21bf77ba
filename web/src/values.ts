// Values of columns, one float32 per row, asked for once: filters, colours and the table share them.

export interface Asks {
  numbers(path: string): Promise<Float32Array>;
  post<T>(path: string, said?: unknown): Promise<T>;
}

export class Values {
  private kept = new Map<string, Promise<Float32Array>>();

  constructor(private asks: Asks) {}

  of(path: string): Promise<Float32Array> {
    const found = this.kept.get(path);
    if (found) return found;
    const asked = this.asks.numbers(path);
    this.kept.set(path, asked);
    asked.catch(() => this.kept.delete(path)); // ask again next time
    return asked;
  }

  // Columns have changed: labels were said, or another map has other ones.
  forget(): void { this.kept.clear(); }
}
