// Takes pictures of both pages in every look: node screenshots.mjs FOLDER.

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Laboratory, LOOKS, reached } from "./harness.mjs";

const folder = resolve(process.argv[2] ?? "target/screenshots");
await mkdir(folder, { recursive: true });
const laboratory = await Laboratory.open();
try {
  const addresses = { index: "index.html", embed: "embed.html", memory: "index.html#1t.experiment=congestion-wait-2010" };
  for (const [name, address] of Object.entries(addresses)) {
    for (const [look, options] of Object.entries(LOOKS)) {
      const { page, watch, close } = await laboratory.visit(address, options);
      await reached(page);
      const path = join(folder, `${name}-${look}.png`);
      await page.screenshot({ path, fullPage: true });
      watch.assertClean();
      await close();
      console.log(path);
    }
  }
} finally {
  await laboratory.close();
}
