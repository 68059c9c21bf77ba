// The page that a server sends.

import "./style.css";
import { server, Source } from "./api";
import { Page } from "./main";

void new Page(document, new Source(server)).start().then(() => { document.documentElement.dataset.ready = "yes"; });
