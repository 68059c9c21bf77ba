// The page that a server sends, and the page that is a file.

import "./style.css";
import { server, Source } from "./api";
import { Kept } from "./kept";
import { Page } from "./main";

async function open(): Promise<void> {
  const kept = await Kept.of(document), page = new Page(document, new Source(kept ?? server));
  await page.start(kept?.view);
  document.documentElement.dataset.ready = "yes";
}

void open();
