// Starts the page: a worker that simulates, and what it reports put on the screen.

/** @typedef {import("./parts/messages.js").FromWorker} FromWorker */

/** What the status line says while all is well is set by the worker's messages; what it says when not, here. */
const status = /** @type {HTMLElement} */ (document.getElementById("status"));

const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.addEventListener("message", (/** @type {MessageEvent<FromWorker>} */ event) => show(event.data));
worker.addEventListener("error", (event) => {
  fail(event.message || "the worker script could not be loaded");
});

/** @param {FromWorker} message */
function show(message) {
  switch (message.kind) {
    case "ready":
      status.textContent = `The simulator is ready: model version ${message.modelVersion}.`;
      document.documentElement.dataset.state = "ready";
      performance.mark("ready");
      break;
    case "failed":
      fail(message.reason);
      break;
  }
}

/** @param {string} reason */
function fail(reason) {
  status.textContent = `The simulator could not be started: ${reason}. Reload the page to try again.`;
  document.documentElement.dataset.state = "failed";
}
