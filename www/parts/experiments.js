// The experiments there are, as links, and the kernel's counters where memory is simulated.

import { byId, fill, h } from "./dom.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */

/**
 * A link for each experiment; the one that is shown is marked. A link's fragment opens the page anew (see address.js).
 *
 * @param {Laboratory} laboratory
 */
export function experiments(laboratory) {
  const place = byId("experiments");
  laboratory.on("checked", (checked) => {
    if (checked.experiments.length > 0) {
      fill(
        place,
        checked.experiments.map(({ title, date, fragment, is_shown }) =>
          h("a", { href: fragment, class: "card", "aria-current": is_shown ? "page" : null }, h("span", { class: "history" }, date.slice(0, 4)), title),
        ),
      );
    }
  });
}

/**
 * `/proc/vmstat` at the end of the runs, in the layout of a difference.
 *
 * @param {Laboratory} laboratory
 */
export function counters(laboratory) {
  const place = byId("counters");
  const section = byId("counted");
  laboratory.on("results", (isComplete) => {
    const lines = /** @type {string[]} */ (laboratory.board.counters());
    section.hidden = lines.length === 0;
    if (isComplete) {
      fill(
        place,
        lines.map((line) => h("span", { class: line.startsWith("-") ? "minus" : line.startsWith("+") ? "plus" : "same" }, `${line}\n`)),
      );
    }
  });
}
