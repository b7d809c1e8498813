// Can the browser tests fail? Pages with one planted fault each, which the harness must report.

import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DIST, Laboratory, accessibilityFindings, reached } from "./harness.mjs";

/** @type {Laboratory} */
let laboratory;
/** @type {string} */
let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "stallarium-planted-"));
  await cp(DIST, folder, { recursive: true });
  laboratory = await Laboratory.open({ folder });
});
after(async () => {
  await laboratory?.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Opens the page with something put before the end of its body.
 *
 * @param {string} name
 * @param {string} html
 * @param {(page: string) => string} [change]
 */
async function visitWith(name, html, change = (text) => text) {
  const page = await readFile(join(DIST, "index.html"), "utf8");
  await writeFile(join(folder, name), change(page.replace("</body>", `${html}</body>`)));
  return laboratory.visit(name);
}

test("an inline script is a policy violation", async () => {
  const { page, watch, close } = await visitWith("inline.html", "<script>document.title = 'changed'</script>");
  await reached(page);
  assert.equal(watch.violations.length, 1);
  assert.throws(() => watch.assertClean());
  await close();
});

test("a request to another origin is seen even where no policy stops it", async () => {
  const foreign = '<img alt="" src="http://localhost:9/pixel.png">';
  const { page, watch, close } = await visitWith("foreign.html", foreign, (text) =>
    text.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, ""),
  );
  await reached(page);
  assert.deepEqual(watch.foreignRequests, ["http://localhost:9/pixel.png"]);
  await close();
});

test("a missing file, a console message and an uncaught error are seen", async () => {
  await writeFile(join(folder, "noisy.js"), "console.log('hello'); throw new Error('planted');");
  const scripts = '<script src="gone.js"></script><script src="noisy.js"></script>';
  const { page, watch, close } = await visitWith("noisy.html", scripts);
  await reached(page);
  assert.ok(watch.consoleMessages.includes("log: hello"));
  assert.ok(watch.pageErrors.some((text) => text.includes("planted")));
  assert.ok(watch.failures.some((text) => text.endsWith("gone.js: 404")));
  await close();
});

test("a worker's console message is seen", async () => {
  await writeFile(join(folder, "chatty.js"), "console.warn('from the worker');");
  await writeFile(join(folder, "starter.js"), "new Worker('chatty.js');");
  const { page, watch, close } = await visitWith("chatty.html", '<script src="starter.js"></script>');
  await reached(page);
  await page.waitForFunction(() => performance.getEntriesByName(new URL("chatty.js", location.href).href).length > 0);
  await assert.doesNotReject(async () => {
    while (!watch.consoleMessages.includes("warning: from the worker")) {
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
  });
  await close();
});

test("a picture without words is an accessibility finding", async () => {
  const { page, close } = await visitWith("wordless.html", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">');
  await reached(page);
  assert.ok((await accessibilityFindings(page)).some((finding) => finding.startsWith("image-alt")));
  await close();
});
