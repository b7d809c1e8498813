// The wasm module gives what native code gives: the links of tests/links.txt and their digests, which the native test
// crate/charts/tests/links.rs checks too.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { packed, unpacked } from "../../www/parts/packing.js";
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
async function digestOf(fragment) {
  const { setting } = stallarium.open_link(await unpacked(fragment));
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
  test(`${fragment.slice(0, 60)} gives ${digest}`, async () => assert.equal(await digestOf(fragment), digest));
}

test("the browser's compressor and the simulator's read each other's links", async () => {
  const compressed = links.find(({ fragment }) => fragment.startsWith("#1z."));
  assert.ok(compressed, "tests/links.txt has a compressed link");
  const readable = await unpacked(compressed.fragment);
  assert.match(readable, /^#1t\./);
  const again = await packed(readable);
  assert.match(again, /^#1z\.[\w-]+$/);
  assert.equal(await unpacked(again), readable);
  assert.deepEqual(stallarium.open_link(readable).remarks, []);
});

test("a short link stays readable, and what is no link is left alone", async () => {
  for (const fragment of ["", "#", "#1t.seed=1", "#1z.%%%", "#1z.AAAA", "#top", "#1t."]) {
    assert.equal(await packed(fragment), fragment);
    assert.equal(await unpacked(fragment), fragment);
  }
});

test("a bomb is not unpacked", async () => {
  const bomb = await packed(`#1t.selected=${"a".repeat(10_000_000)}`);
  assert.ok(bomb.length < 20_000);
  const { remarks } = stallarium.open_link(await unpacked(bomb));
  assert.match(remarks.join(" "), /64 KiB|too large/i);
});
