// The embedded figure: one or a few charts, as much of the controls as the host asks for, and the way to the whole page.

import { address } from "./address.js";
import { CloseupView } from "./closeup.js";
import { byId, fill, h } from "./dom.js";
import { converse, setTheme, switches } from "./embedding.js";
import { Kernels } from "./kernels.js";
import { answers, controls, remarks } from "./page.js";
import { MORE, Results, SUMMARIES, TIMELINES } from "./results.js";
import { Status } from "./status.js";
import { explain } from "./terms.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./address.js").Opened} Opened */

/** What is shown when the link names no chart. */
const USUAL = ["rates"];
const CLOSE = ["service", "tasks", "dispatches", "depth"];

/**
 * @param {Laboratory} laboratory
 * @param {Opened} from
 */
export function embed(laboratory, from) {
  const { theme, controls: chrome, run, isReadOnly } = switches(location.search);
  const wanted = from.view.charts.length > 0 ? from.view.charts : USUAL;
  const options = { link: () => address(laboratory), explain, bare: chrome === "none", heading: /** @type {const} */ ("h2") };
  const results = new Results(laboratory, options, wanted.filter((name) => [...SUMMARIES, ...TIMELINES, ...MORE].includes(name)));
  const closely = wanted.filter((name) => CLOSE.includes(name));
  const closeup = closely.length > 0 ? new CloseupView(laboratory, { ...options, charts: closely }) : null;
  if (closeup !== null) {
    results.couple(closeup);
  }
  const redraw = () => [...results.figures, ...(closeup?.figures ?? [])].forEach((figure) => figure.redraw());
  setTheme(theme, redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  byId("progress").append(new Status(laboratory).element);
  byId("figures").append(...results.figures.map(({ element }) => element), ...(closeup ? [closeup.element] : []));
  const canChange = chrome !== "none" && !isReadOnly;
  if (canChange) {
    byId("controls").append(...(chrome === "full" ? controls(laboratory) : [h("details", { class: "more" }, h("summary", {}, "Kernels"), new Kernels(laboratory).element)]));
  }
  const open = h("a", { target: "_blank", rel: "noopener" }, "Open in Stallarium");
  const follow = () => {
    open.href = address(laboratory);
  };
  laboratory.on("view", follow);
  laboratory.on("checked", follow);
  laboratory.on("results", follow);
  byId("way-out").append(open);
  byId("question").classList.toggle("for-listeners", chrome === "none");
  byId("answer").hidden = chrome === "none";
  answers(laboratory);
  remarks(laboratory, from);
  converse(redraw);
  byId("laboratory").hidden = false;
  byId("status").hidden = true;
  if (run) {
    laboratory.change({});
  } else {
    const begin = h("button", { type: "button", class: "strong", onclick: () => start() }, "Run this simulation");
    const start = () => {
      begin.remove();
      laboratory.change({});
    };
    fill(byId("progress"), begin, ...byId("progress").childNodes);
    document.documentElement.dataset.state = "waiting";
    follow();
  }
}
