// Runs the measurements of src/lib.rs as wasm: `node wasm.mjs MODULE block REQUESTS`, `experiment`, `references PAGES`, `column late`
// or `column stream` prints `COUNT SECONDS RESULT` as the native program does. One run before the measured one lets the engine
// compile; before a column that takes long it is the short one.

import { readFile } from "node:fs/promises";

const [path, what, argument = "0"] = process.argv.slice(2);
if (!path || !what) throw new Error("usage: node wasm.mjs MODULE block REQUESTS | experiment | references PAGES | column late|stream");
const instance = await WebAssembly.instantiate(await WebAssembly.compile(new Uint8Array(await readFile(path))), {});
const exported = /** @type {Record<string, (argument?: number) => number>} */ (/** @type {unknown} */ (instance.exports));
const number = Number(argument);
/** @type {Record<string, { run: () => number, warm?: () => number, count?: number }>} */
const measurements = {
  block: { run: () => exported.block_cfq(number), count: number },
  experiment: { run: () => exported.experiment_mixed() },
  references: { run: () => exported.stream_references(number), count: number },
  column: { run: () => exported.column_touched(Number(argument === "stream")), warm: () => exported.column_touched(0) },
};
const { run, warm = run, count } = measurements[what];
warm();
const start = performance.now();
const result = run();
const seconds = (performance.now() - start) / 1000;
console.log(`${count ?? result} ${seconds} ${result}`);
