// Runs the measurements of src/lib.rs as wasm: `node wasm.mjs MODULE block REQUESTS` or `node wasm.mjs MODULE experiment`
// prints `COUNT SECONDS RESULT` as the native program does. One run before the measured one lets the engine compile.

import { readFile } from "node:fs/promises";

const [path, what, requests = "0"] = process.argv.slice(2);
if (!path || !what) throw new Error("usage: node wasm.mjs MODULE block REQUESTS | experiment");
const instance = await WebAssembly.instantiate(await WebAssembly.compile(new Uint8Array(await readFile(path))), {});
const exported = /** @type {{ block_cfq(requests: number): number, experiment_mixed(): number }} */ (
  /** @type {unknown} */ (instance.exports)
);
const run = () => (what === "block" ? exported.block_cfq(Number(requests)) : exported.experiment_mixed());
run();
const start = performance.now();
const result = run();
const seconds = (performance.now() - start) / 1000;
console.log(`${what === "block" ? requests : result} ${seconds} ${result}`);
