// Elements from values: text enters the page by textContent only.

type Child = Node | string;
type Properties = Record<string, unknown>;

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name === "class") element.className = String(value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, String(value));
    else (element as unknown as Properties)[name] = value;
  }
  element.append(...children);
  return element;
}

export function button(text: string, onclick: () => void, properties: Properties = {}): HTMLButtonElement {
  return make("button", { type: "button", onclick, ...properties }, text);
}

export function fill(parent: HTMLElement, ...children: Child[]): void { parent.replaceChildren(...children); }

// Hands content to the user as a file.
export function save(content: BlobPart, type: string, name: string): void {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function written(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

export function ofFeature(value: number | null | undefined, name: string, dates: string[]): string {
  if (!dates.includes(name) || value === null || value === undefined || !Number.isFinite(value)) return written(value);
  return new Date(864e5 * value).toISOString().slice(0, 10);
}

export const count = (n: number, what: string): string => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
