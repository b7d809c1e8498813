// The experiment in the page: it runs at once, can be changed, and what is shown follows.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Laboratory, reached } from "./harness.mjs";
import { chartNames, closeupShown, drawnShare, field, settled } from "./looking.mjs";

/** @type {Laboratory} */
let laboratory;
before(async () => {
  laboratory = await Laboratory.open();
});
after(() => laboratory?.close());

test("the experiment runs by itself: question, answer, charts, table", async (context) => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  await closeupShown(page);
  assert.match((await page.textContent("h1")) ?? "", /Why is fsync slow under CFQ/);
  assert.match((await page.textContent("#answer")) ?? "", /idles for fs_mark/);
  const names = await chartNames(page);
  for (const name of ["rates", "breakdown", "periods", "files", "queue", "service", "tasks", "dispatches", "depth"]) {
    assert.ok(names.includes(name), `${name} is not among ${names.join(", ")}`);
    const share = await drawnShare(page, name);
    assert.ok(share > 0.002, `${name}: ${(share * 100).toFixed(2)} % of the pixels are not background`);
  }
  const cells = await page.locator(".comparison tbody tr").first().locator("td").allTextContents();
  assert.equal(cells.length, 5);
  assert.match(cells[0], /\d+529/, "deadline: simulated, and 529 as published");
  const first = await page.evaluate(() => performance.getEntriesByName("first-chart")[0]?.startTime);
  context.diagnostic(`first chart after ${first?.toFixed(0)} ms`);
  watch.assertClean();
  await close();
});

test("a kernel can be switched on, and the charts, the table and the address follow", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  const before = await page.evaluate(() => document.documentElement.dataset.digest);
  const rows = page.locator("#chart-rates table tbody tr");
  await page.locator("#chart-rates details summary").click();
  // The table is built when it is first unfolded, which the page is told of after the click.
  await rows.first().waitFor();
  assert.equal(await rows.count(), 3);
  await page.getByRole("switch", { name: "corrado cfq" }).check();
  await page.waitForFunction((old) => document.documentElement.dataset.digest !== old, before);
  assert.equal(await rows.count(), 4);
  await page.waitForFunction(() => location.hash.includes("rq-noidle-pair"));
  watch.assertClean();
  await close();
});

test("a kernel that no column has can be added and taken away", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  await page.getByText("Add a kernel").click();
  await page.getByLabel("Release").selectOption("2.6.37");
  await settled(page, () => page.getByRole("button", { name: "Add this kernel" }).click());
  await settled(page, () => page.getByRole("button", { name: "Remove cfq@2.6.37" }).click());
  assert.equal(await page.getByRole("switch", { name: "cfq@2.6.37" }).count(), 0);
  watch.assertClean();
  await close();
});

test("slice_idle=0 makes CFQ as fast as deadline", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  await page.getByText("Tunables", { exact: true }).click();
  await settled(page, () => field(page, "tunable.slice_idle").fill("0"));
  const [deadline, vanilla] = await page
    .locator(".comparison tbody tr")
    .first()
    .locator("td .simulated")
    .allTextContents();
  const ratio = Number(vanilla) / Number(deadline);
  assert.ok(Math.abs(ratio - 1) < 0.02, `vanilla cfq ${vanilla}, deadline ${deadline}`);
  watch.assertClean();
  await close();
});

test("a value that is wrong is told beside its field, and the last good run stays", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  const digest = await page.evaluate(() => document.documentElement.dataset.digest);
  await page.getByText("Tunables", { exact: true }).click();
  const slice = field(page, "tunable.slice_idle");
  await slice.fill("never");
  const complaint = page.locator(".field", { has: slice }).locator(".complaint");
  await complaint.waitFor();
  assert.match((await complaint.textContent()) ?? "", /Write a time with its unit/);
  assert.equal(await slice.getAttribute("aria-invalid"), "true");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.digest), digest);
  assert.ok((await drawnShare(page, "rates")) > 0.002);
  await settled(page, () => slice.fill("4"));
  assert.equal(await complaint.isVisible(), false);
  watch.assertClean();
  await close();
});

test("another case has its own charts and numbers", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  await settled(page, () => page.getByRole("radio", { name: "sequential reader alone" }).check());
  const names = await chartNames(page);
  assert.ok(names.includes("throughput") && names.includes("reader") && !names.includes("periods"), names.join(", "));
  watch.assertClean();
  await close();
});

test("the close-up is zoomed by keys and buttons, and its events can be read", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  await closeupShown(page);
  const end = page.getByLabel("To, simulated time");
  const start = page.getByLabel("From, simulated time");
  const window = async () => [await start.inputValue(), await end.inputValue()];
  const before = await window();
  await page.locator(".synchronised").focus();
  await page.keyboard.press("+");
  const nearer = await window();
  assert.notDeepEqual(nearer, before);
  await page.keyboard.press("ArrowRight");
  assert.notDeepEqual(await window(), nearer);
  await closeupShown(page);
  await page.getByText("Events, one a line").first().click();
  await page.locator(".events li").first().waitFor();
  const lines = await page.locator(".events li").allTextContents();
  assert.ok(lines.length > 10 && lines.some((line) => line.includes("jbd2")), `${lines.length} lines`);
  await start.fill("1 s");
  await start.press("Enter");
  await end.fill("900 ms");
  await end.press("Enter");
  assert.match((await page.locator(".closeup .complaint").textContent()) ?? "", /end after it begins/);
  watch.assertClean();
  await close();
});

test("a word explains itself on focus, with the section it comes from", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  await page.locator("#context button.term").first().focus();
  const tip = page.getByRole("tooltip");
  assert.match((await tip.textContent()) ?? "", /section \d/);
  await page.keyboard.press("Escape");
  assert.equal(await tip.isVisible(), false);
  watch.assertClean();
  await close();
});

test("the long run shows how far it is, and stops at once", async () => {
  const { page, watch, close } = await laboratory.visit("index.html");
  await reached(page);
  await page.getByRole("button", { name: "Run the published length" }).first().waitFor();
  await page.locator(".published button.strong").click();
  await page.waitForFunction(() => /simulated, .* times real time/.test(document.querySelector(".published .running")?.textContent ?? ""));
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.locator(".published .running").isVisible(), false);
  watch.assertClean();
  await close();
});

const MEMORY = "index.html#1t.experiment=congestion-wait-2010";

test("the memory experiment shows who reclaims, what for, and what memory holds, the rest behind a fold", async () => {
  const { page, watch, close } = await laboratory.visit(MEMORY);
  await reached(page);
  const names = await chartNames(page);
  for (const name of ["sleeps", "reclaimers", "allocation", "free", "direct-scan", "memory", "kswapd"]) {
    assert.ok(names.includes(name), `${name} is not among ${names.join(", ")}`);
    const share = await drawnShare(page, name);
    assert.ok(share > 0.002, `${name}: ${(share * 100).toFixed(2)} % of the pixels are not background`);
  }
  assert.ok(!names.includes("dirty"), "nothing is written");
  const fold = page.locator("#timelines .more");
  assert.equal(await page.locator("#chart-free-2").isVisible(), false);
  await fold.locator("> summary").click();
  await page.locator('#chart-free-2[data-drawn="true"]').waitFor();
  assert.ok((await drawnShare(page, "free-2")) > 0.002);
  await page.locator("#chart-kswapd details summary").click();
  const headings = page.locator("#chart-kswapd table thead th");
  await headings.first().waitFor();
  assert.match((await headings.allTextContents()).join(), /asleep.*balancing.*napping/);
  assert.match((await page.locator("#chart-kswapd table tbody td").allTextContents()).join(), /\d\u202f%/);
  const verdicts = await page.locator(".claims .verdict").allTextContents();
  assert.ok(!verdicts.includes("fails") && verdicts.includes("not run at this size"), verdicts.join(", "));
  watch.assertClean();
  await close();
});

test("the whole run of the memory experiment shows how far it is and what is left, and stops at once", async () => {
  const { page, watch, close } = await laboratory.visit(MEMORY);
  await reached(page);
  const digest = await page.evaluate(() => document.documentElement.dataset.digest);
  await page.getByRole("radio", { name: "the whole 512 GiB" }).check();
  const words = page.locator("#progress .running span");
  await page.waitForFunction(() => /simulated, .* times real time, about \d+ s left/.test(document.querySelector("#progress .running")?.textContent ?? ""));
  assert.match((await words.textContent()) ?? "", /with-congestion-wait/);
  assert.ok((await page.locator("#progress progress").getAttribute("value")) !== null);
  await page.getByRole("button", { name: "Stop" }).click();
  assert.match((await words.textContent()) ?? "", /Stopped/);
  // The workers are free again: the short case runs to its end, and gives what it gave.
  await page.evaluate(() => delete document.documentElement.dataset.digest);
  await page.getByRole("radio", { name: "its last 32 GiB" }).check();
  await page.waitForFunction((known) => document.documentElement.dataset.digest === known, digest);
  await page.locator(".published button.strong").click();
  await page.waitForFunction(() => /0 of 16 runs: .* about \d+ s left/.test(document.querySelector(".published .running")?.textContent ?? ""));
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.locator(".published .running").isVisible(), false);
  watch.assertClean();
  await close();
});
