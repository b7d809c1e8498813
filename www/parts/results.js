// The charts of the whole run: made when there is something to show, and kept up to date.

import { h } from "./dom.js";
import { Figure } from "./figure.js";
import { dragToChoose, keys } from "./span.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./closeup.js").CloseupView} CloseupView */
/** @typedef {import("./figure.js").Options} Options */

/** The charts of the whole run, as the module names them. */
export const SUMMARIES = ["rates", "throughput", "breakdown", "periods", "sleeps", "reclaimers", "allocation"];
export const TIMELINES = ["files", "reader", "free", "direct-scan", "memory", "kswapd", "dirty", "queue"];
/** Those that wait behind a fold: they bear out what the others say. */
export const MORE = ["free-2", "free-3", "kswapd-scan", "scanners", "freers", "writeback"];
const GUTTER_PX = 72;

/** The first picture on the screen, for those who measure. */
let isFirstDrawn = false;

export class Results {
  /**
   * @param {Laboratory} laboratory
   * @param {Omit<Options, "name">} options
   * @param {string[]} names
   */
  constructor(laboratory, options, names) {
    this.laboratory = laboratory;
    this.figures = names.map((name) => {
      const figure = new Figure({ ...options, name, gutter: SUMMARIES.includes(name) ? undefined : GUTTER_PX });
      figure.element.hidden = true;
      return figure;
    });
    this.fold = h("details", { class: "more", hidden: true }, h("summary", {}, "More charts"));
    laboratory.on("results", () => this.update());
  }

  update() {
    const { board } = this.laboratory;
    for (const figure of this.figures) {
      const picture = board.picture(figure.options.name);
      if (picture === undefined) {
        figure.hide();
      } else {
        figure.show(picture);
        this.mark(figure);
      }
    }
    this.count();
  }

  /** How many charts there are decides how they are laid out. */
  count() {
    const shown = this.figures.filter(({ element }) => !element.hidden).length;
    const parent = this.figures[0]?.element.parentElement;
    if (parent) {
      parent.dataset.count = String(shown);
    }
    this.fold.hidden = !this.figures.some(({ element }) => !element.hidden && this.fold.contains(element));
  }

  /** The charts, those that wait behind the fold last. */
  elements() {
    const of = (/** @type {boolean} */ isMore) => this.figures.filter(({ options }) => MORE.includes(options.name) === isMore).map(({ element }) => element);
    this.fold.append(...of(true));
    return [...of(false), this.fold];
  }

  /** @param {Figure} figure */
  mark(figure) {
    if (!isFirstDrawn) {
      isFirstDrawn = true;
      figure.draw();
      performance.mark("first-chart");
    }
  }

  /**
   * Couples the timelines with a close-up: a stretch drawn over them is what it shows.
   *
   * @param {CloseupView} closeup
   */
  couple(closeup) {
    const timelines = this.figures.filter((figure) => !SUMMARIES.includes(figure.options.name));
    for (const figure of timelines) {
      dragToChoose(figure, closeup.span);
      figure.stage.tabIndex = 0;
      figure.stage.setAttribute("role", "group");
      figure.stage.setAttribute("aria-label", "Chosen stretch of the run: arrow keys move it, + and - change its length");
      keys(figure.stage, closeup.span);
      figure.pointed = (at_ns) => {
        for (const other of timelines) {
          other.marks.at_ns = at_ns;
          other.drawMarks();
        }
      };
    }
    closeup.changed = (start_ns, end_ns) => {
      for (const figure of timelines) {
        figure.marks.range = [start_ns, end_ns];
        figure.drawMarks();
      }
    };
  }

  redraw() {
    for (const figure of this.figures) {
      figure.redraw();
    }
  }
}
