// The page as a widget of a notebook (anywidget): questions are messages to the kernel, answers come back as bytes.

import markup from "../index.html?raw";
import { Refusal, Source, type Answer, type Channel } from "./api";
import { Page } from "./main";
import style from "./style.css?inline";

interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, heard: (...said: never[]) => void): void;
  off(event: string, heard: (...said: never[]) => void): void;
}

const PATIENCE = 120_000; // milliseconds; a kernel that runs a cell answers after it

export function kernel(model: Model): Channel & { end(): void } {
  const waiting = new Map<string, (answer: Answer) => void>();
  const mine = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("-"); // other views hear the same answers
  let count = 0;
  const heard = (content: { id?: string; status?: number }, buffers: (DataView | ArrayBuffer)[]): void => {
    const take = content.id === undefined ? undefined : waiting.get(content.id), found = buffers?.[0];
    if (!take || !found) return;
    const bytes = found instanceof ArrayBuffer ? found : (found.buffer.slice(found.byteOffset, found.byteOffset + found.byteLength) as ArrayBuffer);
    take({ status: content.status ?? 500, bytes });
  };
  model.on("msg:custom", heard);
  return {
    ask(method, path, said) {
      const id = `${mine}-${++count}`;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => { waiting.delete(id); reject(new Refusal("The kernel does not answer. It is busy, or was restarted: then run the cell again.")); }, PATIENCE);
        waiting.set(id, (answer) => { clearTimeout(timer); waiting.delete(id); resolve(answer); });
        model.send({ id, method, path, said });
      });
    },
    watch(look) {
      model.on("change:version", look);
      return () => model.off("change:version", look);
    },
    end() { model.off("msg:custom", heard); },
  };
}

// Row numbers of the trait `selection`: 32-bit integers.
function rowsOf(value: unknown): number[] {
  const found = (value as { rows?: DataView } | null)?.rows;
  if (!found) return [];
  return Array.from({ length: found.byteLength / 4 }, (_, k) => found.getInt32(4 * k, true));
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = document.createElement("div"), root = host.attachShadow({ mode: "open" }), sheet = new CSSStyleSheet(), channel = kernel(model);
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  root.append(...new DOMParser().parseFromString(markup, "text/html").body.children);
  root.querySelector(".skip")?.remove(); // a notebook has its own way around
  const light = document.body.dataset.jpThemeLight; // JupyterLab's theme may be another than the system's
  if (light) host.dataset.theme = light === "true" ? "light" : "dark";
  el.append(host);
  const page = new Page(root, new Source(channel));
  page.onselect = (rows) => {
    const sent = new DataView(new Int32Array(rows).buffer);
    model.set("selection", { rows: sent });
    model.save_changes();
  };
  const selected = (): void => {
    const rows = rowsOf(model.get("selection"));
    if (rows.length !== page.selected.size || rows.some((row) => !page.selected.has(row))) page.select(rows, "replace");
  };
  model.on("change:selection", selected);
  void page.start().then(() => { if (rowsOf(model.get("selection")).length) selected(); });
  // Keys of the page (arrows, Escape, Space) are not commands of the notebook.
  host.addEventListener("keydown", (event) => event.stopPropagation());
  return () => { model.off("change:selection", selected); page.end(); channel.end(); };
}

export default { render };
