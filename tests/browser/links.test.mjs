// The links of tests/links.txt give in Chromium the digests that they give natively and in wasm under Node.js.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { Laboratory, reached } from "./harness.mjs";

const text = await readFile(new URL("../links.txt", import.meta.url), "utf8");
const links = text.split("\n").filter((line) => line.startsWith("#1")).map((line) => line.split(" "));

/** @type {Laboratory} */
let laboratory;
before(async () => {
  assert.ok(links.length > 0, "tests/links.txt holds links");
  laboratory = await Laboratory.open();
});
after(() => laboratory?.close());

for (const [link, digest] of links.filter(([, digest]) => digest !== "-")) {
  test(`${link.slice(0, 60)} gives ${digest}`, async () => {
    const { page, watch, close } = await laboratory.visit(`index.html${link}`);
    await reached(page);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.digest), digest);
    watch.assertClean();
    await close();
  });
}
