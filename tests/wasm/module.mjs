// The page's own wasm module, loaded under Node.js: the file that is published, after wasm-opt, not a build of its own.

import { readFile } from "node:fs/promises";

const dist = new URL("../../dist/", import.meta.url);

/** @type {typeof import("../../dist/stallarium-web.js")} */
const module = await import(new URL("stallarium-web.js", dist).href);
module.initSync({ module: await readFile(new URL("stallarium-web_bg.wasm", dist)) });

export default module;
