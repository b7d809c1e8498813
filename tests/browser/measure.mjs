// Measures the page in a fresh browser profile each time: node measure.mjs ROUNDS prints a name and its figures on each line.
// A figure that the page does not give is left out.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DIST, Laboratory, reached } from "./harness.mjs";

const rounds = Number(process.argv[2] ?? "5");
/** @type {Record<string, number[]>} */
const figures = { "weight-kb": [], "ready-ms": [], "first-chart-ms": [] };

const laboratory = await Laboratory.open();
try {
  for (let round = 0; round < rounds; round += 1) {
    const { page, watch, close } = await laboratory.visit("index.html");
    await reached(page);
    // The page marks `ready` and `first-chart`; the time of a mark counts from the start of the navigation.
    const marks = await page.evaluate(() => performance.getEntriesByType("mark").map((mark) => [mark.name, mark.startTime]));
    for (const [name, time] of marks) {
      figures[`${name}-ms`]?.push(Number(time));
    }
    figures["weight-kb"].push((await weight(watch.requests)) / 1000);
    await close();
  }
} finally {
  await laboratory.close();
}
for (const [name, values] of Object.entries(figures)) {
  if (values.length > 0) {
    console.log(name, ...values.map((value) => value.toFixed(1)));
  }
}

/**
 * The bytes of every file asked for, each as a host would compress it; a file asked for twice comes from the cache.
 *
 * @param {string[]} urls
 */
async function weight(urls) {
  const paths = new Set(urls.filter((url) => url.startsWith("http")).map((url) => new URL(url).pathname));
  const sizes = [...paths].map(async (path) => gzipSync(await readFile(join(DIST, path))).length);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
