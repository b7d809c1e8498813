// The wasm module gives what native code gives: the links of tests/links.txt and their digests, which the native test
// crate/charts/tests/links.rs checks too.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import stallarium from "./module.mjs";

const text = await readFile(new URL("../links.txt", import.meta.url), "utf8");
const links = text.split("\n").flatMap((line) => {
  const [fragment, digest] = line.split(" ");
  return fragment?.startsWith("#1") && digest ? [{ fragment, digest }] : [];
});

/**
 * Opens a link and runs what it shows, as the page does.
 * @param {string} fragment
 */
function digestOf(fragment) {
  const { setting } = stallarium.open_link(fragment);
  const board = new stallarium.Board();
  const checked = board.set(setting);
  assert.deepEqual(checked.complaints, []);
  for (const column of checked.columns) {
    if (!column.is_on) continue;
    const run = new stallarium.Run(setting, column.label, false);
    while (!run.advance(1_000_000));
    board.put(column.key, run.result());
    run.free();
  }
  const digest = board.digest();
  board.free();
  return digest;
}

test("the module loads under Node.js and knows its model version", () => {
  assert.equal(stallarium.model_version(), 1);
});

test("there are links to open", () => assert.ok(links.length >= 8));

for (const { fragment, digest } of links) {
  test(`${fragment.slice(0, 60)} gives ${digest}`, () => assert.equal(digestOf(fragment), digest));
}
