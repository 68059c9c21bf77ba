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

const FOCUSABLE = "button, input, select, summary, [tabindex]";

const focusable = (parent: ParentNode): HTMLElement[] => [...parent.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((one) => !one.matches(":disabled"));

// New children; where the old ones had the keyboard's focus, the one of the same name has it again, or what now stands
// in its place: whoever works by keyboard is not sent back to the top of the page.
export function fill(parent: HTMLElement, ...children: Child[]): void {
  const at = (parent.getRootNode() as Document).activeElement, held = at && at !== parent && parent.contains(at) ? nameOf(at) : "";
  const place = held ? [...parent.querySelectorAll(FOCUSABLE)].indexOf(at!) : -1;
  parent.replaceChildren(...children);
  if (!held) return;
  const own = focusable(parent), same = own.filter((one) => nameOf(one) === held), all = [...parent.querySelectorAll(FOCUSABLE)];
  const next = same.find((one) => all.indexOf(one) === place) ?? same[0] ?? own.find((one) => all.indexOf(one) >= place) ?? own[own.length - 1];
  (next ?? after(parent))?.focus({ preventScroll: true });
}

// The first thing behind an element that can have the keyboard's focus, or the last one before it.
function after(parent: HTMLElement): HTMLElement | undefined {
  const shown = focusable(parent.getRootNode() as Document | ShadowRoot).filter((one) => one.checkVisibility?.() ?? true);
  return shown.find((one) => parent.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) ?? shown[shown.length - 1];
}

// Copies text; pages that are not from this machine (a notebook on a server) have no clipboard, and the user may refuse it.
export async function copied(text: string): Promise<boolean> {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* as one did before */ }
  const box = make("textarea", { value: text, "aria-hidden": "true" }), at = document.activeElement as HTMLElement | null;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  at?.focus({ preventScroll: true });
  return done;
}

const nameOf = (one: Element): string => `${one.tagName} ${one.getAttribute("aria-label") ?? one.closest("label")?.textContent ?? one.textContent}`;

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

// Days since 1970 as a date.
export const dated = (days: number): string => new Date(864e5 * days).toISOString().slice(0, 10);

export function ofFeature(value: number | null | undefined, name: string, dates: string[]): string {
  return dates.includes(name) && value != null && Number.isFinite(value) ? dated(value) : written(value);
}

// Two digits behind the point, without the sign of a zero.
export const short = (value: number): string => value.toFixed(2).replace(/^-(0\.00)$/, "$1");

export const count = (n: number, what: string): string => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
