// The worker that owns the simulation: the page stays responsive whatever a run costs.

import init, { model_version } from "./stallarium-web.js";

/** @typedef {import("./parts/messages.js").FromWorker} FromWorker */

/** @param {FromWorker} message */
function post(message) {
  self.postMessage(message);
}

try {
  await init();
  post({ kind: "ready", modelVersion: model_version() });
} catch (error) {
  post({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
}
