// Writes the digests of the sources and of what was built from them, so that a test without Node sees a stale bundle.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const STATIC = "../src/sidelight/explorer/static";
const SOURCES = ["index.html", "package-lock.json", "package.json", "stamp.mjs", "tsconfig.json", "vite.config.js", "vite.widget.config.js",
  ...readdirSync("src").map((name) => `src/${name}`)].sort();

function digest(folder, names) {
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\n`).update(readFileSync(`${folder}/${name}`)).update("\n");
  return hash.digest("hex");
}

const stamp = { sources: digest(".", SOURCES), built: digest(STATIC, ["app.css", "app.js", "index.html", "widget.js"]) };
writeFileSync(`${STATIC}/stamp.json`, `${JSON.stringify(stamp, null, 1)}\n`);
