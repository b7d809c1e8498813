// How far the runs have come: simulated time, speed, what remains; with a way to stop, and the way out of a failure.

import { format_time } from "../stallarium-web.js";
import { fill, h } from "./dom.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */

/** A run that is over by then needs no bar: wall time. */
const PATIENCE_MS = 250;

export class Status {
  /** @param {Laboratory} laboratory */
  constructor(laboratory) {
    this.laboratory = laboratory;
    this.words = h("span", {});
    this.bar = h("progress", { max: "1", "aria-label": "Simulated so far" });
    this.stop = h("button", { type: "button", onclick: () => laboratory.stop() }, "Stop");
    this.again = h("button", { type: "button", hidden: true, onclick: () => this.retry() }, "Run again");
    this.failure = h("p", { class: "complaint", role: "alert", hidden: true });
    this.line = h("div", { class: "running", hidden: true }, this.bar, this.words, this.stop, this.again);
    this.element = h("div", { class: "status" }, this.line, this.failure);
    this.began = 0;
    this.timer = 0;
    laboratory.on("progress", () => this.show());
    laboratory.on("failure", (sentence) => this.fail(sentence));
    laboratory.on("checked", () => {
      this.failure.hidden = true;
    });
  }

  show() {
    const runs = [...this.laboratory.pending.values()];
    if (runs.length === 0) {
      clearTimeout(this.timer);
      this.timer = 0;
      this.began = 0;
      const { isStopped } = this.laboratory;
      this.line.hidden = !isStopped;
      this.bar.hidden = true;
      this.stop.hidden = true;
      this.again.hidden = !isStopped;
      fill(this.words, isStopped ? "Stopped. What had been finished is shown." : "");
      return;
    }
    this.began ||= performance.now();
    const waited = performance.now() - this.began;
    if (waited < PATIENCE_MS) {
      this.timer ||= setTimeout(() => {
        this.timer = 0;
        this.show();
      }, PATIENCE_MS);
      return;
    }
    this.line.hidden = false;
    this.bar.hidden = false;
    this.stop.hidden = false;
    this.again.hidden = true;
    const told = runs.filter(({ limit_ns }) => limit_ns > 0);
    const now = told.reduce((sum, run) => sum + run.now_ns, 0);
    const limit = told.reduce((sum, run) => sum + run.limit_ns, 0);
    fill(this.words, progress(runs.map(({ label }) => label).join(", "), now, limit, waited));
    if (limit > 0) {
      this.bar.value = now / limit;
    } else {
      this.bar.removeAttribute("value");
    }
  }

  /** @param {string} sentence */
  fail(sentence) {
    fill(this.failure, sentence, " ", h("button", { type: "button", onclick: () => this.retry() }, "Run again"));
    this.failure.hidden = false;
  }

  retry() {
    this.failure.hidden = true;
    this.laboratory.again();
  }
}

/**
 * Progress in words.
 *
 * @param {string} what
 * @param {number} now_ns
 * @param {number} limit_ns
 * @param {number} wall_ms
 */
export function progress(what, now_ns, limit_ns, wall_ms) {
  if (limit_ns === 0 || now_ns === 0) {
    return `${what}: starting`;
  }
  const speed = now_ns / 1e6 / wall_ms;
  const left_s = Math.ceil((limit_ns - now_ns) / 1e6 / speed / 1000);
  const times = speed >= 10 ? Math.round(speed) : speed.toFixed(1);
  const round = (/** @type {number} */ ns) => format_time(Math.round(ns / 1e7) * 1e7);
  return `${what}: ${round(now_ns)} of ${round(limit_ns)} simulated, ${times} times real time, about ${left_s} s left`;
}
