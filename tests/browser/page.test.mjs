// The page opens anywhere, silently, and by itself.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Laboratory, LOOKS, accessibilityFindings, reached } from "./harness.mjs";

const PAGES = ["index.html", "embed.html", "embed.html?controls=full", "embed.html?controls=none"];

/** @type {Laboratory} */
let laboratory;
before(async () => {
  // Below a path, as on a host with many pages: no address in dist/ may start at the root.
  laboratory = await Laboratory.open({ base: "/some/path/" });
});
after(() => laboratory?.close());

for (const name of PAGES) {
  test(`${name} runs in workers, says nothing, and asks nobody else`, async () => {
    const { page, watch, close } = await laboratory.visit(name);
    await reached(page);
    assert.ok(page.workers().length >= 1);
    assert.ok(watch.requests.some((url) => url.endsWith("/stallarium-web_bg.wasm")), "the wasm module was fetched");
    watch.assertClean();
    await close();
  });

  for (const [look, options] of Object.entries(LOOKS)) {
    test(`axe-core finds nothing on ${name}, ${look}, everything unfolded`, async () => {
      const { page, watch, close } = await laboratory.visit(name, options);
      await reached(page);
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) {
          details.open = true;
        }
      });
      assert.deepEqual(await accessibilityFindings(page), []);
      watch.assertClean();
      await close();
    });
  }

  test(`${name} needs no sideways scrolling on a narrow screen`, async () => {
    const { page, close } = await laboratory.visit(name, LOOKS.narrow);
    await reached(page);
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
    assert.ok(widths[0] <= widths[1], `content ${widths[0]} px, screen ${widths[1]} px`);
    await close();
  });
}
