// The page that a server sends.

import "./style.css";
import { server, Source } from "./api";
import { Page } from "./main";

// Ready is when it is drawn: the legend has its place then, and the map has the rest.
const ready = () => requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.ready = "yes"; }));
void new Page(document, new Source(server)).start().then(ready);
