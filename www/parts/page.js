// The page: what is asked, the answer, the controls, the charts, history beside it, and ways to take it away.

import { address, follow } from "./address.js";
import { CloseupView } from "./closeup.js";
import { byId, fill, h } from "./dom.js";
import { counters, experiments } from "./experiments.js";
import { Fields } from "./fields.js";
import { Kernels } from "./kernels.js";
import { Published } from "./published.js";
import { MORE, Results, SUMMARIES, TIMELINES } from "./results.js";
import { share } from "./share.js";
import { Status } from "./status.js";
import { explain } from "./terms.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./messages.js").Checked} Checked */
/** @typedef {import("./address.js").Opened} Opened */

/** From this width on the controls stand beside the charts, open. */
const WIDE = "(min-width: 68rem)";

/**
 * Builds the page into its skeleton and begins.
 *
 * @param {Laboratory} laboratory
 * @param {Opened} from
 */
export function page(laboratory, from) {
  const link = () => address(laboratory);
  const options = { link, explain };
  const summaries = new Results(laboratory, options, SUMMARIES);
  const timelines = new Results(laboratory, options, [...TIMELINES, ...MORE]);
  const closeup = new CloseupView(laboratory, options);
  timelines.couple(closeup);
  const published = new Published(laboratory, explain);

  byId("progress").append(new Status(laboratory).element);
  byId("share").append(share(laboratory));
  byId("controls").append(...controls(laboratory));
  byId("summaries").append(...summaries.figures.map(({ element }) => element));
  byId("timelines").append(...timelines.elements());
  byId("closeup").append(closeup.element);
  byId("published").append(published.element);
  experiments(laboratory);
  counters(laboratory);
  answers(laboratory);
  remarks(laboratory, from);
  follow(laboratory);

  const redraw = () => [...summaries.figures, ...timelines.figures, ...closeup.figures].forEach((figure) => figure.redraw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  byId("laboratory").hidden = false;
  byId("status").hidden = true;
  laboratory.change({});
}

/**
 * The controls, in groups that fold.
 *
 * @param {Laboratory} laboratory
 */
export function controls(laboratory) {
  const group = (/** @type {string} */ title, /** @type {HTMLElement} */ body, isOpen = false) =>
    h("details", { class: "group", open: isOpen }, h("summary", {}, h("h3", {}, title)), body);
  const wide = matchMedia(WIDE);
  const all = h(
    "details",
    { class: "controls", open: wide.matches },
    h("summary", {}, h("h2", {}, "Change the experiment")),
    group("Kernels", new Kernels(laboratory).element, true),
    group("Workload and run", h("div", {}, cases(laboratory), new Fields(laboratory, "run", explain).element), true),
    group("Tunables", new Fields(laboratory, "tunables", explain).element),
    group("Machine", new Fields(laboratory, "machine", explain).element),
    resets(laboratory),
  );
  wide.addEventListener("change", () => {
    all.open = wide.matches;
  });
  return [all];
}

/** @param {Laboratory} laboratory */
function cases(laboratory) {
  const list = h("fieldset", { class: "cases" });
  const complaint = h("p", { class: "complaint", role: "alert", hidden: true });
  laboratory.on("checked", (checked) => {
    if (checked.cases.length > 0 && list.childElementCount === 0) {
      fill(
        list,
        h("legend", {}, "What runs"),
        checked.cases.map(({ name, title }) => h("label", {}, h("input", { type: "radio", name: "case", value: name, onchange: () => laboratory.show(name) }), title)),
      );
    }
    for (const input of list.querySelectorAll("input")) {
      input.checked = input.value === laboratory.setting.case;
    }
    const wrong = checked.complaints.filter(({ path }) => path === "case");
    fill(complaint, wrong.map(({ text }) => text).join(" "));
    complaint.hidden = wrong.length === 0;
  });
  const full = h("button", { type: "button", class: "quiet" });
  const quick = h("button", { type: "button", class: "quiet", onclick: () => laboratory.override("time", null) }, "Back to the short run");
  let full_time = "";
  full.addEventListener("click", () => laboratory.override("time", full_time));
  laboratory.on("checked", (checked) => {
    const shown = checked.cases.find(({ name }) => name === laboratory.setting.case);
    if (shown !== undefined) {
      full_time = shown.full_time;
      fill(full, `Run the published length, ${full_time}`);
      full.hidden = laboratory.setting.overrides.time === full_time;
      quick.hidden = laboratory.setting.overrides.time === undefined;
    }
  });
  return h("div", {}, list, complaint, h("p", { class: "row" }, full, quick));
}

/** @param {Laboratory} laboratory */
function resets(laboratory) {
  const button = h("button", { type: "button", hidden: true, onclick: () => laboratory.change({ overrides: {} }) }, "Back to the published machine and tunables");
  laboratory.on("checked", () => {
    button.hidden = Object.keys(laboratory.setting.overrides).length === 0;
  });
  return button;
}

/**
 * The question with its context, and the answer that the last results give.
 *
 * @param {Laboratory} laboratory
 */
export function answers(laboratory) {
  const answer = byId("answer");
  laboratory.on("checked", ({ title, context, complaints }) => {
    if (complaints.length === 0) {
      fill(byId("question"), title);
      document.title = `${title} Stallarium`;
      fill(byId("context"), context.map((sentence) => h("p", {}, sentence)));
      explain(byId("context"));
    }
  });
  laboratory.on("results", (isComplete) => {
    const sentences = /** @type {string[]} */ (laboratory.board.explain());
    if (isComplete || sentences.length > 0) {
      fill(answer, sentences.map((sentence) => h("p", {}, sentence)));
      explain(answer);
    }
  });
}

/**
 * What the reader should know about the link that was opened: refused parts, another model, another digest.
 *
 * @param {Laboratory} laboratory
 * @param {Opened} from
 */
export function remarks(laboratory, from) {
  const place = byId("remarks");
  const show = (/** @type {string[]} */ sentences) => {
    fill(place, sentences.map((sentence) => h("p", {}, sentence)));
    place.hidden = sentences.length === 0;
  };
  show(from.remarks);
  let isCompared = from.digest === "";
  laboratory.on("results", (isComplete) => {
    if (isComplete) {
      const digest = laboratory.board.digest();
      document.documentElement.dataset.digest = digest;
      if (!isCompared) {
        isCompared = true;
        const differs = `This link was made when the simulator gave other results (digest ${from.digest}, now ${digest}): its rules have changed since. What you see is what today's model gives.`;
        show(digest === from.digest ? from.remarks : [...from.remarks, differs]);
      }
    }
  });
  // What cannot be shown beside a field is shown here.
  laboratory.on("checked", ({ complaints }) => {
    const homeless = complaints.filter(({ path }) => path !== "case" && !path.startsWith("kernels") && document.querySelector(`[data-path="${CSS.escape(path)}"]`) === null);
    if (complaints.length > 0) {
      show(homeless.map(({ text }) => text));
    }
  });
}
