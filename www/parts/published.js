// The published table beside the simulated one, what it claims, and the long run that decides.

import { Verdict } from "../stallarium-web.js";
import { download, fill, h } from "./dom.js";
import { progress } from "./status.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./messages.js").Setting} Setting */

/**
 * @typedef {object} Cell
 * @property {string} simulated In words, with its spread.
 * @property {string} published
 * @property {string} gain Against the baseline.
 *
 * @typedef {object} Table
 * @property {string} caption
 * @property {string[]} columns
 * @property {{ metric: string, unit: string, note: string, cells: Cell[] }[]} rows
 *
 * @typedef {{ says: string, status: string, verdict: "holds" | "fails" | "not run" | "not run at this size", sentence: string }} Claim
 *
 * @typedef {object} Judged
 * @property {Table[]} tables
 * @property {Claim[]} claims
 * @property {string[]} explanations
 * @property {string} remark What was run, and how far it is from what was published.
 */

/** Seeds of the long run. */
const SEEDS = 8;

export class Published {
  /**
   * @param {Laboratory} laboratory
   * @param {(element: HTMLElement) => void} explain
   */
  constructor(laboratory, explain) {
    this.laboratory = laboratory;
    this.explain = explain;
    this.table = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Published and simulated numbers" });
    this.remark = h("p", { class: "hint" });
    this.claims = h("ul", { class: "claims" });
    this.begin = h("button", { type: "button", class: "strong", onclick: () => this.run() }, `Run the published length with ${SEEDS} seeds`);
    this.csv = h("button", { type: "button", class: "quiet", onclick: () => this.save() }, "CSV");
    this.bar = h("progress", { max: "1", value: "0", "aria-label": "Simulated so far" });
    this.words = h("span", {});
    this.stopper = h("button", { type: "button", onclick: () => this.stop("Stopped.") }, "Cancel");
    this.line = h("div", { class: "running", hidden: true }, this.bar, this.words, this.stopper);
    this.complaint = h("p", { class: "complaint", role: "alert", hidden: true });
    this.element = h("div", { class: "published" }, this.remark, this.table, h("div", { class: "row" }, this.begin, this.csv), this.line, this.complaint, this.claims);
    /** The long run under way: ids of the pool. @type {Set<number>} */
    this.ids = new Set();
    /** What the long run has given, once it has begun. @type {Verdict | null} */
    this.verdict = null;
    laboratory.on("results", () => this.quick());
    laboratory.on("checked", (checked) => {
      if (checked.complaints.length === 0) {
        this.abandon();
      }
    });
  }

  /** The table as far as the page's own quick runs fill it. */
  quick() {
    if (this.verdict === null) {
      const judged = /** @type {Judged | null} */ (this.laboratory.board.judge());
      this.element.hidden = judged === null;
      if (judged !== null) {
        this.show(judged);
      }
    }
  }

  /** The setting is another: what the long run said is not about it. */
  abandon() {
    this.stop("");
    this.verdict?.free();
    this.verdict = null;
  }

  /** Every kernel in every case with every seed, in all workers. */
  run() {
    this.abandon();
    let verdict;
    try {
      verdict = new Verdict(this.laboratory.good, SEEDS);
    } catch (reason) {
      fill(this.complaint, String(reason));
      this.complaint.hidden = false;
      return;
    }
    this.verdict = verdict;
    const tasks = /** @type {{ setting: Setting, kernel: string, limit_ns: number }[]} */ (verdict.tasks());
    const total = tasks.reduce((sum, task) => sum + task.limit_ns, 0);
    const began = performance.now();
    let finished_ns = 0;
    /** @type {Map<number, number>} */
    const partial = new Map();
    const tell = () => {
      const now = [...partial.values()].reduce((sum, ns) => sum + ns, finished_ns);
      this.bar.value = now / total;
      fill(this.words, progress(`${tasks.length - this.ids.size} of ${tasks.length} runs`, now, total, performance.now() - began));
    };
    this.complaint.hidden = true;
    this.line.hidden = false;
    this.begin.disabled = true;
    for (const { setting, kernel, limit_ns } of tasks) {
      const id = this.laboratory.pool.run({
        setting,
        kernel,
        keep: false,
        progress: (now_ns) => {
          partial.set(id, now_ns);
          tell();
        },
        done: ({ bytes }) => {
          partial.delete(id);
          this.ids.delete(id);
          finished_ns += limit_ns;
          this.verdict?.put(bytes);
          tell();
          if (this.ids.size === 0 && this.verdict !== null) {
            this.finish(this.verdict);
          }
        },
        failed: (reason) => {
          this.ids.delete(id);
          this.stop(`${kernel}: ${reason}`);
        },
      });
      this.ids.add(id);
    }
    tell();
  }

  /** @param {Verdict} verdict */
  finish(verdict) {
    this.line.hidden = true;
    this.begin.disabled = false;
    this.show(/** @type {Judged} */ (verdict.judge()));
  }

  /**
   * Stops the long run at once.
   *
   * @param {string} reason A sentence, or nothing.
   */
  stop(reason) {
    const wasRunning = this.ids.size > 0;
    for (const id of this.ids) {
      this.laboratory.pool.cancel(id);
    }
    this.ids.clear();
    this.line.hidden = true;
    this.begin.disabled = false;
    fill(this.complaint, reason);
    this.complaint.hidden = reason === "" || !wasRunning;
    if (wasRunning && this.verdict !== null) {
      this.verdict.free();
      this.verdict = null;
    }
  }

  /** @param {Judged} judged */
  show(judged) {
    this.judged = judged;
    fill(this.remark, judged.remark);
    this.explain(this.remark);
    fill(this.table, judged.tables.map(tableOf));
    fill(this.claims, judged.claims.map((claim) => this.claim(claim)));
  }

  /** @param {Claim} claim */
  claim(claim) {
    const words = h("p", { class: "hint" }, claim.sentence);
    this.explain(words);
    return h(
      "li",
      { "data-verdict": claim.verdict },
      h("span", { class: "verdict" }, claim.verdict),
      h("div", {}, h("p", {}, claim.says, h("span", { class: "firmness" }, claim.status)), words),
    );
  }

  save() {
    const lines = (this.judged?.tables ?? []).flatMap((table) => [
      ["metric", "unit", ...table.columns.flatMap((column) => [`${column} simulated`, `${column} published`])],
      ...table.rows.map((row) => [row.metric, row.unit, ...row.cells.flatMap((cell) => [cell.simulated, cell.published])]),
    ]);
    const quoted = lines.map((line) => line.map((text) => `"${text.replaceAll('"', '""')}"`).join(",")).join("\r\n");
    download("stallarium-published.csv", new Blob([quoted], { type: "text/csv" }));
  }
}

/** @param {Table} table */
function tableOf(table) {
  return h(
    "table",
    { class: "comparison" },
    h("caption", {}, table.caption),
    h("thead", {}, h("tr", {}, h("td", {}), table.columns.map((column) => h("th", { scope: "col" }, column)))),
    h(
      "tbody",
      {},
      table.rows.map((row) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, row.metric, h("span", { class: "unit" }, row.unit), row.note ? h("span", { class: "note" }, row.note) : null),
          row.cells.map((cell) =>
            h("td", {}, h("span", { class: cell.simulated ? "simulated" : "history" }, cell.simulated || "not run"), h("span", { class: "history" }, cell.published), cell.gain ? h("span", { class: "gain" }, cell.gain) : null),
          ),
        ),
      ),
    ),
  );
}
