// A link restores everything, a bad one leads somewhere, and the embedded figure keeps its promises.

import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DIST, Laboratory, reached } from "./harness.mjs";
import { chartNames, closeupShown, drawnShare, field, settled } from "./looking.mjs";

/** @type {Laboratory} */
let laboratory;
/** @type {string} */
let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "stallarium-sharing-"));
  await cp(DIST, folder, { recursive: true });
  laboratory = await Laboratory.open({ folder });
});
after(async () => {
  await laboratory?.close();
  await rm(folder, { recursive: true, force: true });
});

const digestOf = () => document.documentElement.dataset.digest;

test("a shared link gives the same digest and the same view in a fresh browser", async () => {
  const one = await laboratory.visit("index.html");
  await reached(one.page);
  await closeupShown(one.page);
  await settled(one.page, () => one.page.getByRole("switch", { name: "blk_yield cfq" }).check());
  await one.page.getByText("Machine", { exact: true }).click();
  await settled(one.page, () => field(one.page, "machine.hz").selectOption("250"));
  await closeupShown(one.page);
  await one.page.locator(".synchronised").focus();
  await one.page.keyboard.press("+");
  await one.page.waitForFunction(() => location.hash.includes("view") || location.hash.startsWith("#1z"));
  const digest = await one.page.evaluate(digestOf);
  const seen = await one.page.getByLabel("From, simulated time").inputValue();
  await one.page.waitForFunction((wanted) => performance.now() > 0 && location.hash.length > wanted, 20);
  const hash = new URL(one.page.url()).hash;
  await one.close();

  const other = await laboratory.visit(`index.html${hash}`);
  await reached(other.page);
  await closeupShown(other.page);
  assert.equal(await other.page.evaluate(digestOf), digest);
  assert.equal(await field(other.page, "machine.hz").inputValue(), "250");
  assert.equal(await other.page.getByRole("switch", { name: "blk_yield cfq" }).isChecked(), true);
  assert.equal(await other.page.getByLabel("From, simulated time").inputValue(), seen);
  assert.equal(await other.page.locator("#remarks").isVisible(), false);
  other.watch.assertClean();
  await other.close();
});

test("a link whose digest differs says so", async () => {
  const { page, watch, close } = await laboratory.visit("index.html#1t.model=1&digest=0123456789abcdef");
  await reached(page);
  assert.match((await page.textContent("#remarks")) ?? "", /0123456789abcdef/);
  watch.assertClean();
  await close();
});

for (const [what, hash, says] of [
  ["a damaged link", "#1z.%%%", /damaged/],
  ["a link of a newer page", "#99t.seed=1", /version 99/],
  ["a link with an unknown kernel", "#1t.kernels=cfq@2.6.99", /2\.6\.99|release/],
  ["a link with a value out of range", "#1t.machine.hz=300", /100, 250/],
]) {
  test(`${what} says what is wrong, and the page is not blank`, async () => {
    const { page, watch, close } = await laboratory.visit(`index.html${hash}`);
    await page.waitForFunction(() => (document.body.textContent ?? "").length > 0 && document.querySelector(".complaint:not([hidden]), #remarks:not([hidden])"));
    const told = await page.locator(".complaint:not([hidden]), #remarks:not([hidden])").allTextContents();
    assert.match(told.join(" "), /** @type {RegExp} */ (says));
    watch.assertClean();
    await close();
  });
}

test("copying gives a link to the page and a snippet for the figure", async () => {
  const { page, close } = await laboratory.visit("index.html");
  await reached(page);
  // No permission to the clipboard: the page shows the text instead.
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.getByRole("button", { name: "Copy embed snippet" }).click();
  const shown = page.getByLabel("Copy this text");
  assert.match(await shown.inputValue(), /^<iframe src="http.*embed\.html\?controls=min#1/);
  await page.getByRole("button", { name: "Copy link" }).click();
  assert.match(await shown.inputValue(), /^http[^ ]*#1/);
  await close();
});

/**
 * Puts the embedded figure into a page that keeps its messages.
 *
 * @param {string} name
 * @param {string} query
 */
async function embedded(name, query) {
  await writeFile(join(folder, `${name}.js`), "window.heard = []; addEventListener('message', (event) => window.heard.push(event.data));");
  await writeFile(join(folder, name), `<!doctype html><title>host</title><link rel="icon" href="data:,"><script src="${name}.js"></script><iframe title="figure" src="embed.html${query}" width="700" height="500"></iframe>`);
  const visit = await laboratory.visit(name);
  const frame = visit.page.frames().find((child) => child.url().includes("embed.html")) ?? (await visit.page.waitForEvent("frameattached"));
  await frame.waitForFunction(() => ["ready", "waiting"].includes(document.documentElement.dataset.state ?? ""));
  return { ...visit, frame };
}

test("the embedded figure tells its height, takes a theme, and leaves the address alone", async () => {
  const { page, frame, watch, close } = await embedded("host.html", "?theme=light&controls=full#1t.charts=rates,service");
  await page.waitForFunction(() => /** @type {any} */ (window).heard.some((/** @type {any} */ data) => data.type === "stallarium-1-height" && data.height > 100));
  const background = () => frame.evaluate(() => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector("#chart-rates canvas"));
    // Through a copy: the browser warns of a canvas that is read again and again.
    const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    copy?.drawImage(canvas, 0, 0);
    return copy?.getImageData(0, 0, 1, 1).data[0] ?? -1;
  });
  assert.ok((await background()) > 200, "light");
  await page.evaluate(() => frames[0].postMessage({ type: "stallarium-1-theme", theme: "dark" }, "*"));
  await frame.waitForFunction(() => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector("#chart-rates canvas"));
    const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    copy?.drawImage(canvas, 0, 0);
    const shade = copy?.getImageData(0, 0, 1, 1).data[0];
    return shade !== undefined && shade < 60;
  });
  const url = frame.url();
  const wayOut = () => frame.evaluate(() => /** @type {HTMLAnchorElement} */ (document.querySelector("#way-out a")).href);
  const first = await wayOut();
  await frame.getByText("Change the experiment").click();
  await frame.getByRole("switch", { name: "corrado cfq" }).check();
  await frame.waitForFunction((old) => /** @type {HTMLAnchorElement} */ (document.querySelector("#way-out a")).href !== old, first);
  assert.equal(frame.url(), url);
  watch.assertClean();
  await close();
});

test("run=0 waits to be asked, controls=none shows the figure alone", async () => {
  const { frame, watch, close } = await embedded("quiet.html", "?run=0&controls=none");
  assert.equal(await frame.locator("figure.chart:not([hidden])").count(), 0);
  await frame.getByRole("button", { name: "Run this simulation" }).click();
  await frame.waitForFunction(() => document.documentElement.dataset.state === "ready");
  assert.equal(await frame.locator("figure.chart:not([hidden])").count(), 1);
  assert.equal(await frame.locator("#controls *").count(), 0);
  watch.assertClean();
  await close();
});

test("the embedded figure shows the charts that its link names", async () => {
  const { page, watch, close } = await laboratory.visit("embed.html#1t.charts=breakdown,tasks");
  await reached(page);
  await closeupShown(page);
  assert.deepEqual(await chartNames(page), ["breakdown", "tasks"]);
  assert.ok((await drawnShare(page, "tasks")) > 0.002);
  watch.assertClean();
  await close();
});

for (const [what, missing, says] of [
  ["the wasm module", "stallarium-web_bg.wasm", /404.*stallarium-web_bg\.wasm/],
  ["the worker's script", "worker.js", /worker/],
]) {
  test(`without ${what} the page says so and offers a way out`, async () => {
    const { page, close } = await laboratory.visit("");
    await page.route(`**/${missing}`, (route) => route.fulfill({ status: 404 }));
    await page.reload();
    await page.waitForFunction(() => document.documentElement.dataset.state === "failed");
    assert.match((await page.locator("#status:not([hidden]), .complaint:not([hidden])").allTextContents()).join(" "), /** @type {RegExp} */ (says));
    assert.ok((await page.getByRole("button", { name: /Reload|Run again/ }).count()) > 0);
    await close();
  });
}

test("a chart can be taken away as a picture that carries its link, and as numbers", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  const download = async (/** @type {string} */ format) => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.locator("#chart-rates").getByRole("button", { name: `Download this chart as ${format}` }).click(),
    ]);
    assert.equal(file.suggestedFilename(), `stallarium-rates.${format.toLowerCase()}`);
    return readFile(await file.path());
  };
  const png = await download("PNG");
  assert.ok(png.subarray(1, 4).toString() === "PNG" && /tEXtSource\0http[^\0]*#1/.test(png.toString("latin1")), "a PNG with its link");
  const svg = (await download("SVG")).toString();
  assert.ok(svg.startsWith("<svg") && svg.includes("How many files") && /#1[tz]\./.test(svg), "an SVG with its title and its link");
  const csv = (await download("CSV")).toString();
  assert.match(csv, /^group,measurement,value/);
  assert.match(csv, /vanilla cfq,simulated,\d+/);
  watch.assertClean();
  await close();
});
