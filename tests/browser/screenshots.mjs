// Takes pictures of both pages in every look: node screenshots.mjs FOLDER.

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Laboratory, LOOKS, reached } from "./harness.mjs";

const folder = resolve(process.argv[2] ?? "target/screenshots");
await mkdir(folder, { recursive: true });
const laboratory = await Laboratory.open();
try {
  for (const name of ["index", "embed"]) {
    for (const [look, options] of Object.entries(LOOKS)) {
      const { page, watch, close } = await laboratory.visit(`${name}.html`, options);
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
