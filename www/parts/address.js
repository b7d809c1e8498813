// The link to what is on the screen, in the address bar; and what a link says when the page is opened with it.

import { link, open_link } from "../stallarium-web.js";
import { packed, unpacked } from "./packing.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./messages.js").Setting} Setting */
/** @typedef {import("./messages.js").View} View */

/** Safari allows a hundred changes in thirty seconds: wall time between two. */
const PACE_MS = 300;

/**
 * @typedef {object} Opened
 * @property {Setting} setting
 * @property {View} view
 * @property {string} digest What the run gave when the link was made; may be empty.
 * @property {string[]} remarks What the reader should know about the link, in sentences.
 */

/**
 * Reads the link that the page was opened with. A bad one gives the experiment as it is, and says why.
 *
 * @returns {Promise<Opened>}
 */
export async function opened() {
  return /** @type {Opened} */ (open_link(await unpacked(location.hash)));
}

/** The last link in its readable form, and what it was packed to. Compressing takes a moment; until then the readable form serves. */
const last = { readable: "", shortest: "", packing: Promise.resolve() };

/**
 * The fragment of the link to what is shown.
 *
 * @param {Laboratory} laboratory
 * @returns {string} With the `#`.
 */
export function fragment(laboratory) {
  const readable = link(laboratory.good, laboratory.view, laboratory.board.digest());
  if (readable !== last.readable) {
    last.readable = readable;
    last.shortest = readable;
    last.packing = packed(readable).then((shortest) => {
      if (readable === last.readable) {
        last.shortest = shortest;
      }
    });
  }
  return last.shortest;
}

/**
 * The whole link, to the page even from the embedded figure.
 *
 * @param {Laboratory} laboratory
 * @param {string} [page]
 */
export function address(laboratory, page = "index.html") {
  const url = new URL(page, document.baseURI);
  url.hash = fragment(laboratory);
  return url.href.replace("/index.html", "/");
}

/**
 * Keeps the address bar at the link to what is on the screen. An embedded page never does: Firefox would restore it and lose the embed.
 *
 * @param {Laboratory} laboratory
 */
export function follow(laboratory) {
  let written = 0;
  let timer = 0;
  const write = async () => {
    timer = 0;
    written = performance.now();
    fragment(laboratory);
    await last.packing;
    const wanted = fragment(laboratory);
    if (wanted !== location.hash) {
      history.replaceState(null, "", wanted);
    }
  };
  const soon = () => {
    timer ||= setTimeout(write, Math.max(PACE_MS - (performance.now() - written), 0));
  };
  laboratory.on("view", soon);
  laboratory.on("results", (isComplete) => isComplete && soon());
  // A link pasted into the address bar of the open page is a new beginning.
  addEventListener("hashchange", () => {
    if (!/^#[0-9]/.test(location.hash)) {
      return;
    }
    clearTimeout(timer);
    location.reload();
  });
}
