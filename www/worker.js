// A worker that owns simulations: the page stays responsive whatever a run costs.

import init, { Run, model_version } from "./stallarium-web.js";

/** @typedef {import("./parts/messages.js").ToWorker} ToWorker */
/** @typedef {import("./parts/messages.js").FromWorker} FromWorker */
/** @typedef {import("./parts/messages.js").Task} Task */
/** @typedef {import("./parts/messages.js").Look} Look */

/** How long a slice of work may keep messages waiting, and how often progress is told: in wall time. */
const SLICE_MS = 12;
const TELL_MS = 100;
/** Events between two looks at the clock. */
const EVENTS_A_STEP = 20_000;

/** Runs to do, in order. @type {Task[]} */
const waiting = [];
/** The run being done. @type {{ task: Task, run: Run, began: number, told: number } | null} */
let current = null;
/** Finished runs that are kept for close looks. @type {Map<number, Run>} */
const kept = new Map();
/** Whether the module is there: runs may be asked for before it is. */
let isLoaded = false;
/** Whether a turn is already on its way. */
let isTurnDue = false;
/** Posting to oneself lets other messages in first, and waits for no timer. */
const turns = new MessageChannel();

turns.port1.onmessage = () => {
  isTurnDue = false;
  guarded(work);
};
self.addEventListener("message", (/** @type {MessageEvent<ToWorker>} */ event) => guarded(() => receive(event.data)));

/**
 * @param {FromWorker} message
 * @param {Transferable[]} [transfer]
 */
function post(message, transfer = []) {
  self.postMessage(message, { transfer });
}

/**
 * The module hands out copies of its memory, which nobody shares.
 *
 * @param {Uint8Array} bytes
 */
function owned(bytes) {
  return /** @type {Uint8Array<ArrayBuffer>} */ (bytes);
}

/**
 * After a trap the module's memory cannot be trusted: the page replaces the whole worker.
 *
 * @param {() => void | Promise<void>} action
 */
async function guarded(action) {
  try {
    await action();
  } catch (error) {
    post({ kind: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}

/** @param {ToWorker} message */
async function receive(message) {
  switch (message.kind) {
    case "load":
      await init({ module_or_path: message.module });
      isLoaded = true;
      turn();
      post({ kind: "ready", modelVersion: model_version() });
      break;
    case "run":
      waiting.push(message);
      turn();
      break;
    case "cancel":
      forget(message.id);
      break;
    case "look":
      look(message);
      break;
  }
}

function turn() {
  if (isLoaded && !isTurnDue && (current !== null || waiting.length > 0)) {
    isTurnDue = true;
    turns.port2.postMessage(null);
  }
}

/** @param {number} id */
function forget(id) {
  const place = waiting.findIndex((task) => task.id === id);
  if (place >= 0) {
    waiting.splice(place, 1);
  }
  if (current?.task.id === id) {
    current.run.free();
    current = null;
  }
  kept.get(id)?.free();
  kept.delete(id);
  turn();
}

/** One slice of the current run, or the beginning of the next. */
function work() {
  if (current === null) {
    begin();
  } else {
    go(current);
  }
  turn();
}

function begin() {
  const task = waiting.shift();
  if (task === undefined) {
    return;
  }
  try {
    const run = new Run(task.setting, task.kernel, task.keep);
    current = { task, run, began: performance.now(), told: performance.now() };
  } catch (error) {
    // What the module refuses in words is a text; anything else is a fault.
    if (typeof error !== "string") {
      throw error;
    }
    post({ kind: "refused", id: task.id, reason: error });
  }
}

/** @param {NonNullable<typeof current>} doing */
function go(doing) {
  const { task, run } = doing;
  const until = performance.now() + SLICE_MS;
  let isDone = false;
  while (!isDone && performance.now() < until) {
    isDone = run.advance(EVENTS_A_STEP);
  }
  if (isDone) {
    const bytes = owned(run.result());
    post({ kind: "result", id: task.id, bytes, wall_ms: performance.now() - doing.began }, [bytes.buffer]);
    current = null;
    if (task.keep) {
      kept.set(task.id, run);
    } else {
      run.free();
    }
  } else if (performance.now() - doing.told > TELL_MS) {
    doing.told = performance.now();
    post({ kind: "progress", id: task.id, now_ns: run.now_ns(), limit_ns: run.limit_ns() });
  }
}

/** @param {Look} message */
function look({ id, ticket, start_ns, end_ns }) {
  const run = kept.get(id);
  if (run === undefined) {
    return;
  }
  try {
    const bytes = owned(run.look(start_ns, end_ns));
    post({ kind: "closeup", id, ticket, bytes }, [bytes.buffer]);
  } catch (error) {
    if (typeof error !== "string") {
      throw error;
    }
    post({ kind: "unseen", id, ticket, reason: error });
  }
}
