// The charts of the whole run: made when there is something to show, and kept up to date.

import { Figure } from "./figure.js";
import { dragToChoose, keys } from "./span.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./closeup.js").CloseupView} CloseupView */
/** @typedef {import("./figure.js").Options} Options */

/** The charts of the whole run, as the module names them. */
export const SUMMARIES = ["rates", "throughput", "breakdown", "periods"];
export const TIMELINES = ["files", "reader", "free", "direct-scan", "queue"];
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
      const figure = new Figure({ ...options, name, gutter: TIMELINES.includes(name) ? GUTTER_PX : undefined });
      figure.element.hidden = true;
      return figure;
    });
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
    const timelines = this.figures.filter((figure) => TIMELINES.includes(figure.options.name));
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
