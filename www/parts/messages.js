// What the page and its workers say to each other, and what the wasm module's plain objects look like. Types only: both
// sides are checked against them. Times are nanoseconds of simulated time.

/**
 * @typedef {object} Setting What is to be run and shown. `sim` gives it its meaning; here it is only carried.
 * @property {string} experiment The experiment's id.
 * @property {string} case Name of the case shown.
 * @property {string[]} kernels Labels of columns, or kernel names.
 * @property {string} seed A whole number as text; empty leaves it to the experiment.
 * @property {string} [workload] A workload of one's own, as text.
 * @property {string} [scenario] A scenario of one's own, as text.
 * @property {Record<string, string>} overrides Values by path, such as `machine.hz` or `tunable.slice_idle`.
 *
 * @typedef {object} View What is looked at.
 * @property {string} kernel Label of the kernel in the close-up; empty for the first.
 * @property {number} start_ns The close-up's beginning.
 * @property {number} end_ns The close-up's end; 0 for the default window.
 * @property {string[]} charts The charts shown when embedded; none for the usual ones.
 *
 * @typedef {object} Complaint A thing that is wrong, in words.
 * @property {string} path The field's path; empty for the whole.
 * @property {string} text One line for the field.
 *
 * @typedef {object} Column One kernel of the setting.
 * @property {string} label
 * @property {string} name The kernel's name, as it stands in a setting.
 * @property {string} about What is special about it.
 * @property {string} key Names its run: equal keys mean the same run. Empty while it is switched off.
 * @property {number} slot Its colour: an index into the palette.
 * @property {boolean} is_on
 * @property {boolean} is_extra Not a column of the experiment.
 *
 * @typedef {object} Field A value that can be set.
 * @property {string} path As in overrides.
 * @property {string} group `machine`, `tunables` or `run`.
 * @property {string} name The kernel's name for it, or a plain one.
 * @property {string} about What it does, in a sentence.
 * @property {"number" | "choice" | "switch"} kind
 * @property {string} unit
 * @property {string} range What is allowed, in words.
 * @property {string} value As it is set now.
 * @property {string} usual As it is when nobody sets it.
 * @property {string[]} choices
 *
 * @typedef {object} Checked What a setting means.
 * @property {Complaint[]} complaints
 * @property {Column[]} columns
 * @property {Field[]} fields
 * @property {{ name: string, title: string, full_time: string }[]} cases
 * @property {{ title: string, date: string, fragment: string, is_shown: boolean }[]} experiments
 * @property {string} title
 * @property {string[]} context Two sentences and the source.
 * @property {string} conditions The conditions in a line.
 */

/**
 * @typedef {object} Task A run to do.
 * @property {number} id
 * @property {Setting} setting
 * @property {string} kernel Label or name of one kernel of the setting.
 * @property {boolean} keep Whether the worker keeps the run for close looks.
 *
 * @typedef {{ kind: "load", module: WebAssembly.Module }} Load
 * @typedef {{ kind: "run" } & Task} Run
 * @typedef {{ kind: "cancel", id: number }} Cancel Stop a run, or drop a finished one.
 * @typedef {{ kind: "look", id: number, ticket: number, start_ns: number, end_ns: number }} Look
 * @typedef {Load | Run | Cancel | Look} ToWorker
 *
 * @typedef {{ kind: "ready", modelVersion: number }} Ready The module is loaded and can simulate.
 * @typedef {{ kind: "failed", reason: string }} Failed The module cannot be used; the reason is a sentence's middle.
 * @typedef {{ kind: "progress", id: number, now_ns: number, limit_ns: number }} Progress
 * @typedef {{ kind: "result", id: number, bytes: Uint8Array<ArrayBuffer>, wall_ms: number }} Result
 * @typedef {{ kind: "refused", id: number, reason: string }} Refused The run could not be started.
 * @typedef {{ kind: "closeup", id: number, ticket: number, bytes: Uint8Array<ArrayBuffer> }} Closeup
 * @typedef {{ kind: "unseen", id: number, ticket: number, reason: string }} Unseen A window that cannot be shown; a sentence.
 * @typedef {Ready | Failed | Progress | Result | Refused | Closeup | Unseen} FromWorker
 */

export {};
