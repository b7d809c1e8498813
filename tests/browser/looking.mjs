// How tests look at the page: which charts there are, whether they are drawn, whether it has caught up with a change.

/** @typedef {import("playwright-core").Page} Page */

/**
 * The names of the charts that are shown.
 *
 * @param {Page} page
 * @returns {Promise<string[]>}
 */
export function chartNames(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll("figure.chart")]
      .filter((figure) => figure instanceof HTMLElement && !figure.hidden)
      .map((figure) => figure.id.replace("chart-", "")),
  );
}

/**
 * The share of a chart's pixels that differ from its corner.
 *
 * @param {Page} page
 * @param {string} name
 */
export async function drawnShare(page, name) {
  await page.waitForFunction((id) => document.getElementById(id)?.dataset.drawn === "true", `chart-${name}`);
  return page.evaluate((id) => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(`#${id} canvas`));
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy?.drawImage(canvas, 0, 0);
    const data = copy?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    let different = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] !== data[0] || data[at + 1] !== data[1] || data[at + 2] !== data[2]) {
        different += 1;
      }
    }
    return different / (data.length / 4);
  }, `chart-${name}`);
}

/**
 * The control of a value.
 *
 * @param {Page} page
 * @param {string} path
 */
export function field(page, path) {
  return page.locator(`[data-path="${path}"]`);
}

/**
 * Does something that changes the results, and waits until they have changed.
 *
 * @param {Page} page
 * @param {() => Promise<unknown>} action
 */
export async function settled(page, action) {
  const before = await page.evaluate(() => document.documentElement.dataset.digest);
  await action();
  await page.waitForFunction((old) => document.documentElement.dataset.digest !== old, before);
}

/**
 * Waits until the close-up shows its window in full detail.
 *
 * @param {Page} page
 */
export async function closeupShown(page) {
  await page.waitForFunction(() => /** @type {HTMLElement | null} */ (document.querySelector(".closeup"))?.dataset.state === "shown");
}
