// The close-up: a stretch of one kernel's run in full detail, several charts over the same time, and the events in words.

import { Closeup, format_time, parse_time } from "../stallarium-web.js";
import { fill, freshId, h } from "./dom.js";
import { Figure } from "./figure.js";
import { KEYS, Span, dragToMove, keys } from "./span.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./messages.js").Column} Column */

/** The charts, top to bottom, as the module names them. */
const CHARTS = ["service", "tasks", "dispatches", "depth"];
/** Room for the labels of lanes, so that all time axes line up. */
const GUTTER_PX = 128;
/** On a narrow screen labels stand above their lanes. */
const NARROW_PX = 560;
/** The most lines of events shown; more are a matter of zooming. */
const LINES_MAX = 400;

export class CloseupView {
  /**
   * @param {Laboratory} laboratory
   * @param {{ link: () => string, explain: (element: HTMLElement) => void, charts?: string[], bare?: boolean, heading?: "h2" | "h3" }} options
   */
  constructor(laboratory, options) {
    this.laboratory = laboratory;
    this.span = new Span();
    /** The run shown, by key. */
    this.key = "";
    /** Whether the window moves because the page, not the reader, wants it. */
    this.isMovedByPage = false;
    this.figures = (options.charts ?? CHARTS).map((name) => {
      const figure = new Figure({ name, link: options.link, explain: options.explain, gutter: GUTTER_PX, bare: options.bare, heading: options.heading });
      figure.element.hidden = true;
      dragToMove(figure, this.span);
      figure.pointed = (at_ns) => this.cross(at_ns);
      return figure;
    });
    this.kernels = h("div", { class: "choices", role: "radiogroup", "aria-label": "Kernel of the close-up" });
    this.group = freshId();
    const field = (/** @type {string} */ label) => h("input", { type: "text", size: "11", "aria-label": label, autocomplete: "off", spellcheck: "false" });
    this.from = field("From, simulated time");
    this.to = field("To, simulated time");
    this.complaint = h("p", { class: "complaint", id: freshId(), role: "alert", hidden: true });
    for (const input of [this.from, this.to]) {
      input.addEventListener("change", () => this.typed());
      input.setAttribute("aria-describedby", this.complaint.id);
    }
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ action) =>
      h("button", { type: "button", onclick: action, "aria-label": label, title: label }, text);
    const tools = h(
      "div",
      { class: "tools" },
      h("span", { class: "window" }, this.from, " to ", this.to),
      h(
        "span",
        { class: "buttons", role: "group", "aria-label": "Move and zoom" },
        button("◀", "Earlier", () => this.span.move(-0.5)),
        button("▶", "Later", () => this.span.move(0.5)),
        button("+", "Zoom in", () => this.span.zoom(0.5)),
        button("−", "Zoom out", () => this.span.zoom(2)),
        button("All", "All of the run", () => this.span.set(0, this.span.limit_ns)),
      ),
    );
    this.status = h("p", { class: "hint", role: "status" });
    const charts = h(
      "div",
      { class: "synchronised", tabindex: "0", role: "group", "aria-label": `Close-up charts. ${KEYS}` },
      this.figures.map((figure) => figure.element),
    );
    keys(charts, this.span);
    this.lines = h("ol", { class: "events" });
    this.more = h("p", { class: "hint" });
    const scroller = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Events, one a line" }, this.lines);
    this.events = h("details", { class: "behind", ontoggle: () => this.fillEvents() }, h("summary", {}, "Events, one a line"), this.more, scroller);
    this.element = h("div", { class: "closeup" }, this.kernels, tools, this.complaint, this.status, charts, options.bare ? null : this.events);
    /** @type {Closeup | null} */
    this.closeup = null;
    this.span.listen((isSettled) => this.moved(isSettled));
    laboratory.on("results", (isComplete) => isComplete && this.update());
  }

  /** The column that is shown: the chosen one, or the one that the board thinks most telling. */
  column() {
    const columns = this.laboratory.on_columns();
    const labelled = (/** @type {string | undefined} */ label) => columns.find((column) => column.label === label);
    return labelled(this.laboratory.view.kernel) ?? labelled(this.laboratory.board.first_kernel()) ?? columns[0];
  }

  /** Other results, or another kernel. */
  update() {
    this.fillKernels();
    const column = this.column();
    const limit_ns = column && this.laboratory.board.elapsed_ns(column.key);
    if (!column || limit_ns === undefined || column.key === this.key) {
      return;
    }
    const { board, view } = this.laboratory;
    this.key = column.key;
    this.span.limit_ns = limit_ns;
    const isChosen = view.end_ns > view.start_ns;
    const [start_ns, end_ns] = isChosen ? [view.start_ns, view.end_ns] : board.first_window(column.key);
    this.isMovedByPage = true;
    this.span.set(start_ns, end_ns, true);
    this.isMovedByPage = false;
  }

  fillKernels() {
    const shown = this.column();
    const name = this.group;
    const had = /** @type {HTMLElement | null} */ (this.kernels.querySelector(":focus"))?.getAttribute("value");
    fill(
      this.kernels,
      this.laboratory.on_columns().map((column) => {
        const input = h("input", {
          type: "radio",
          name,
          value: column.label,
          onchange: () => {
            this.laboratory.look({ kernel: column.label });
            this.update();
          },
        });
        input.checked = column === shown;
        return h("label", {}, input, h("span", { class: "swatch", "data-slot": String(column.slot) }), column.label);
      }),
    );
    if (had) {
      /** @type {HTMLElement | null} */ (this.kernels.querySelector(`input[value="${CSS.escape(had)}"]`))?.focus();
    }
  }

  /** @param {boolean} isSettled */
  moved(isSettled) {
    const { start_ns, end_ns } = this.span;
    this.from.value = format_time(start_ns);
    this.to.value = format_time(end_ns);
    this.complaint.hidden = true;
    for (const figure of this.figures) {
      figure.span = [start_ns, end_ns];
      figure.redraw();
    }
    this.changed?.(start_ns, end_ns);
    if (!isSettled) {
      this.element.dataset.state = "moving";
      return;
    }
    if (!this.isMovedByPage) {
      this.laboratory.look({ start_ns, end_ns });
    }
    const id = this.laboratory.finished.get(this.key);
    if (id !== undefined) {
      this.element.dataset.state = "looking";
      this.laboratory.pool.look(id, start_ns, end_ns, (answer) => {
        if (answer.kind === "closeup") {
          this.show(answer.bytes);
        } else {
          this.complain(answer.reason);
        }
      });
    }
  }

  /** Told of every movement, so that the charts of the whole run can mark it. @type {((start_ns: number, end_ns: number) => void) | undefined} */
  changed;

  /** @param {Uint8Array} bytes */
  show(bytes) {
    this.closeup?.free();
    this.closeup = new Closeup(bytes);
    for (const figure of this.figures) {
      const picture = this.closeup.picture(figure.options.name);
      figure.options.gutter = this.element.clientWidth < NARROW_PX ? 0 : GUTTER_PX;
      if (picture === undefined) {
        figure.hide();
      } else {
        figure.show(picture);
      }
    }
    fill(this.status, this.closeup.remark());
    this.status.hidden = this.closeup.remark() === "";
    this.fillEvents();
    this.element.dataset.state = "shown";
  }

  /** Lines are made when somebody opens the list. */
  fillEvents() {
    if (!this.events.open || this.closeup === null) {
      return;
    }
    const all = this.closeup.event_count();
    fill(this.lines, this.closeup.event_lines(LINES_MAX).map((line) => h("li", {}, line)));
    fill(this.more, all > LINES_MAX ? `The first ${LINES_MAX} of ${all} events in this window. Zoom in for the others.` : `${all} events in this window.`);
  }

  /** Somebody wrote the ends of the window. */
  typed() {
    try {
      const [start, end] = [parse_time(this.from.value), parse_time(this.to.value)];
      if (end <= start) {
        throw "The window must end after it begins.";
      }
      this.span.set(start, end, true);
    } catch (reason) {
      this.complain(String(reason));
    }
  }

  /** @param {string} sentence */
  complain(sentence) {
    fill(this.complaint, sentence);
    this.complaint.hidden = false;
  }

  /** A crosshair through all charts. @param {number | null} at_ns */
  cross(at_ns) {
    for (const figure of this.figures) {
      figure.marks.at_ns = at_ns;
      figure.drawMarks();
    }
  }
}
