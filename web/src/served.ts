// The page that a server sends, and the page that is a file.

import "./style.css";
import { server, Source } from "./api";
import { Kept } from "./kept";
import { Page } from "./main";

async function open(): Promise<void> {
  const kept = await Kept.of(document), page = new Page(document, new Source(kept ?? server));
  await page.start(kept?.view);
  // Ready is when it is drawn: the legend has its place then, and the map has the rest.
  requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.ready = "yes"; }));
}

void open();
