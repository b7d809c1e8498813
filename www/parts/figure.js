// One chart on the page: heading, canvas, what is under the pointer, words, the table behind it, and ways to take it away.

import { download, fill, freshId, h } from "./dom.js";

/** @typedef {import("../stallarium-web.js").Picture} Picture */

/**
 * @typedef {object} Options
 * @property {string} name Names its files and its element.
 * @property {() => string} link The link to what is on the screen, kept in pictures.
 * @property {number} [gutter] Room for labels at the left, CSS pixels, so that charts above one another line up.
 * @property {boolean} [bare] Nothing but the picture: no table, no downloads.
 * @property {"h2" | "h3"} [heading] The level of its heading: `h3` unless said otherwise.
 * @property {(element: HTMLElement) => void} [explain] Makes the terms in a text explain themselves.
 */

/**
 * What is marked on the overlay, over charts of time.
 *
 * @typedef {object} Marks
 * @property {number | null} at_ns A crosshair.
 * @property {[number, number] | null} range A chosen stretch.
 */

/** Whether the page is shown dark, as the style sheet decides it. */
export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export class Figure {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    /** @type {Picture | null} */
    this.picture = null;
    /** The time shown; `null` is all of it. @type {[number, number] | null} */
    this.span = null;
    /** @type {Marks} */
    this.marks = { at_ns: null, range: null };
    this.title = h(options.heading ?? "h3", { class: "title", id: freshId() });
    this.subtitle = h("p", { class: "subtitle" });
    this.canvas = h("canvas", { role: "img" });
    this.overlay = h("canvas", { class: "overlay", "aria-hidden": "true" });
    this.tip = h("div", { class: "tip", hidden: true });
    this.stage = h("div", { class: "stage" }, this.canvas, this.overlay, this.tip);
    this.summary = h("p", { class: "summary" });
    // The picture has it too, where listeners cannot read it.
    this.note = h("p", { class: "for-listeners" });
    this.behind = h("details", { class: "behind", ontoggle: () => this.fillTable() }, h("summary", {}, "Table"));
    this.element = h(
      "figure",
      { class: "chart", id: `chart-${options.name}`, "aria-labelledby": this.title.id },
      this.title,
      this.subtitle,
      this.stage,
      h("figcaption", {}, this.summary, this.note, options.bare ? null : h("div", { class: "chart-foot" }, this.behind, this.takeaway())),
    );
    this.stage.addEventListener("pointermove", (event) => this.point(event));
    this.stage.addEventListener("pointerleave", () => this.point(null));
    // Drawing waits for a frame, so that many changes make one picture.
    this.isDue = false;
    new ResizeObserver(() => this.redraw()).observe(this.stage);
  }

  /**
   * Shows a picture instead of the one before, which is freed.
   *
   * @param {Picture} picture
   */
  show(picture) {
    this.picture?.free();
    this.picture = picture;
    fill(this.title, picture.title());
    fill(this.subtitle, picture.subtitle());
    fill(this.summary, picture.summary());
    fill(this.note, picture.note());
    this.subtitle.hidden = picture.subtitle() === "";
    this.note.hidden = picture.note() === "";
    this.options.explain?.(this.summary);
    this.canvas.setAttribute("aria-label", `${picture.title()}. ${picture.summary()}`);
    this.fillTable();
    this.element.hidden = false;
    this.redraw();
  }

  /** Draws at the next frame. */
  redraw() {
    if (!this.isDue) {
      this.isDue = true;
      requestAnimationFrame(() => {
        this.isDue = false;
        this.draw();
      });
    }
  }

  /** Draws now. */
  draw() {
    const width = this.stage.clientWidth;
    if (this.picture === null || width < 80) {
      return;
    }
    const view = this.view();
    const height = this.picture.height(width, view);
    this.stage.style.height = `${height}px`;
    this.picture.draw(this.canvas, width, height, devicePixelRatio, isDark(), view);
    this.element.dataset.drawn = "true";
    this.drawMarks();
  }

  view() {
    const [start_ns, end_ns] = this.span ?? [0, 0];
    return { start_ns, end_ns, gutter_px: this.options.gutter ?? 0 };
  }

  /** Draws what lies over the picture; the picture itself is not touched. */
  drawMarks() {
    const { picture, overlay, marks } = this;
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    const ratio = devicePixelRatio;
    if (overlay.width !== Math.round(width * ratio) || overlay.height !== Math.round(height * ratio)) {
      overlay.width = Math.round(width * ratio);
      overlay.height = Math.round(height * ratio);
    }
    const context = overlay.getContext("2d");
    if (context === null || picture === null) {
      return;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    // Custom properties are not resolved to colours; these are, and the style sheet gives them their meaning.
    const { color: veil, outlineColor: accent, textDecorationColor: muted } = getComputedStyle(overlay);
    const [left, top, right, bottom] = picture.plot();
    if (marks.range !== null && right !== undefined) {
      const [from, to] = marks.range.map((at) => picture.x_of_time_within(at) ?? 0);
      context.fillStyle = veil;
      context.fillRect(left, top, from - left, bottom - top);
      context.fillRect(to, top, right - to, bottom - top);
      context.strokeStyle = accent;
      context.lineWidth = 1.5;
      context.strokeRect(from - 0.75, top, Math.max(to - from + 1.5, 3), bottom - top);
    }
    const x = marks.at_ns === null ? undefined : picture.x_of_time(marks.at_ns);
    if (x !== undefined) {
      context.strokeStyle = muted;
      context.lineWidth = 1;
      context.setLineDash([3, 3]);
      context.beginPath();
      context.moveTo(Math.round(x) + 0.5, 0);
      context.lineTo(Math.round(x) + 0.5, height);
      context.stroke();
      context.setLineDash([]);
    }
  }

  /** @param {PointerEvent | null} event */
  point(event) {
    const box = this.stage.getBoundingClientRect();
    const [x, y] = event === null ? [-1, -1] : [event.clientX - box.left, event.clientY - box.top];
    const text = event === null ? undefined : this.picture?.hit(x, y);
    this.tip.hidden = text === undefined;
    if (text !== undefined) {
      fill(this.tip, text);
      const left = Math.min(Math.max(x + 12, 4), Math.max(box.width - this.tip.offsetWidth - 4, 4));
      const above = y - this.tip.offsetHeight - 10;
      this.tip.style.left = `${left}px`;
      this.tip.style.top = `${above < 0 ? y + 16 : above}px`;
    }
    this.pointed?.(event === null ? null : (this.picture?.time_at(x) ?? null));
  }

  /** Told where in time the pointer is. @type {((at_ns: number | null) => void) | undefined} */
  pointed;

  /** The table is made when somebody opens it. */
  fillTable() {
    if (!this.behind.open || this.picture === null) {
      return;
    }
    const { headings, rows } = /** @type {{ headings: string[], rows: string[][] }} */ (this.picture.table(this.view()));
    const [title, ...cells] = headings;
    const table = h(
      "table",
      {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, title), cells.map((cell) => h("th", { scope: "col" }, cell)))),
      h(
        "tbody",
        {},
        rows.map(([name, ...values]) => h("tr", {}, h("th", { scope: "row" }, name), values.map((value) => h("td", {}, value)))),
      ),
    );
    const scroller = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": `${this.title.textContent}: table` }, table);
    fill(this.behind, h("summary", {}, "Table"), scroller);
  }

  takeaway() {
    const button = (/** @type {string} */ format, /** @type {() => void} */ action) =>
      h("button", { type: "button", class: "quiet", onclick: action, "aria-label": `Download this chart as ${format}` }, format);
    return h(
      "div",
      { class: "takeaway", role: "group", "aria-label": "Download" },
      button("PNG", () => this.savePng()),
      button("SVG", () => this.saveSvg()),
      button("CSV", () => this.saveCsv()),
    );
  }

  /** The picture with its titles on a canvas of its own, twice as fine as the screen's usual. */
  savePng() {
    const canvas = h("canvas");
    const width = 900;
    const view = { ...this.view(), titles: true };
    const height = this.picture?.height(width, view) ?? 0;
    this.picture?.draw(canvas, width, height, 2, isDark(), view);
    canvas.toBlob(async (blob) => {
      if (blob !== null && this.picture !== null) {
        const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (this.picture.png_with_link(new Uint8Array(await blob.arrayBuffer()), this.options.link()));
        download(`stallarium-${this.options.name}.png`, new Blob([bytes], { type: "image/png" }));
      }
    });
    this.draw();
  }

  saveSvg() {
    const text = this.picture?.svg(900, isDark(), this.options.link(), this.view()) ?? "";
    download(`stallarium-${this.options.name}.svg`, new Blob([text], { type: "image/svg+xml" }));
  }

  saveCsv() {
    download(`stallarium-${this.options.name}.csv`, new Blob([this.picture?.csv() ?? ""], { type: "text/csv" }));
  }

  hide() {
    this.element.hidden = true;
    delete this.element.dataset.drawn;
  }
}
