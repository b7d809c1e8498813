// The workers: as many as the machine has cores, started when there is work for them, replaced when one breaks.

/** @typedef {import("./messages.js").FromWorker} FromWorker */
/** @typedef {import("./messages.js").ToWorker} ToWorker */
/** @typedef {import("./messages.js").Setting} Setting */
/** @typedef {import("./messages.js").Result} Result */
/** @typedef {import("./messages.js").Closeup} Closeup */
/** @typedef {import("./messages.js").Unseen} Unseen */

/** More would only cost memory: each holds the module and its runs. */
const WORKERS_MAX = 8;

/**
 * @typedef {object} Job
 * @property {number} id
 * @property {Setting} setting
 * @property {string} kernel
 * @property {boolean} keep
 * @property {(now_ns: number, limit_ns: number) => void} [progress]
 * @property {(result: Result) => void} done
 * @property {(reason: string) => void} failed A sentence.
 * @property {Member | null} member Who does it, or did it and keeps it.
 * @property {boolean} isDone
 */

/**
 * @typedef {object} Member
 * @property {Worker} worker
 * @property {Job | null} job What it is doing.
 * @property {boolean} isReady It has loaded the module.
 */

export class Pool {
  /**
   * @param {Promise<WebAssembly.Module>} module Compiled once, for all.
   */
  constructor(module) {
    this.module = module;
    /** @type {Member[]} */
    this.members = [];
    /** @type {Job[]} */
    this.queue = [];
    /** Jobs that are queued, running or kept. @type {Map<number, Job>} */
    this.jobs = new Map();
    /** @type {Map<number, (closeup: Closeup | Unseen) => void>} */
    this.looks = new Map();
    this.nextId = 1;
    this.size = Math.min(Math.max(navigator.hardwareConcurrency || 2, 1), WORKERS_MAX);
    // The first worker's script is fetched while the module still compiles.
    this.hire();
  }

  /**
   * Queues a run. `keep` makes its worker keep it, so that {@link look} works.
   *
   * @param {Omit<Job, "id" | "member" | "isDone">} wanted
   * @returns {number} The run's id.
   */
  run(wanted) {
    const job = { ...wanted, id: this.nextId++, member: null, isDone: false };
    this.jobs.set(job.id, job);
    this.queue.push(job);
    this.assign();
    return job.id;
  }

  /**
   * Stops a run at once, or drops a kept one. Nothing more is heard of it.
   *
   * @param {number} id
   */
  cancel(id) {
    const job = this.jobs.get(id);
    if (job === undefined) {
      return;
    }
    this.jobs.delete(id);
    this.queue = this.queue.filter((queued) => queued !== job);
    if (job.member !== null) {
      tell(job.member, { kind: "cancel", id });
      if (job.member.job === job) {
        job.member.job = null;
        this.assign();
      }
    }
  }

  /**
   * Looks closely at a window of a finished, kept run. The answer to an earlier look that is still under way is not waited for.
   *
   * @param {number} id
   * @param {number} start_ns
   * @param {number} end_ns
   * @param {(closeup: Closeup | Unseen) => void} answer
   */
  look(id, start_ns, end_ns, answer) {
    const member = this.jobs.get(id)?.member;
    if (member) {
      const ticket = this.nextId++;
      this.looks.clear();
      this.looks.set(ticket, answer);
      tell(member, { kind: "look", id, ticket, start_ns, end_ns });
    }
  }

  /** @returns {Member} */
  hire() {
    const worker = new Worker(new URL("../worker.js", import.meta.url), { type: "module" });
    /** @type {Member} */
    const member = { worker, job: null, isReady: false };
    worker.addEventListener("message", (/** @type {MessageEvent<FromWorker>} */ event) => this.hear(member, event.data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.lose(member, event.message || "a worker's script could not be loaded");
    });
    this.members.push(member);
    this.module.then(
      (module) => tell(member, { kind: "load", module }),
      () => {
        // Whoever made the promise says so.
      },
    );
    return member;
  }

  assign() {
    while (this.queue.length > 0) {
      const free = this.members.find((member) => member.job === null) ?? (this.members.length < this.size ? this.hire() : null);
      const job = free && this.queue.shift();
      if (!free || !job) {
        return;
      }
      free.job = job;
      job.member = free;
      const { id, setting, kernel, keep } = job;
      tell(free, { kind: "run", id, setting, kernel, keep });
    }
  }

  /**
   * @param {Member} member
   * @param {FromWorker} message
   */
  hear(member, message) {
    if (message.kind === "ready") {
      member.isReady = true;
      return;
    }
    if (message.kind === "failed") {
      this.lose(member, message.reason);
      return;
    }
    const job = this.jobs.get(message.id);
    if (job === undefined) {
      return;
    }
    switch (message.kind) {
      case "progress":
        job.progress?.(message.now_ns, message.limit_ns);
        break;
      case "result":
        this.end(job, job.keep);
        job.done(message);
        break;
      case "refused":
        this.end(job, false);
        job.failed(message.reason);
        break;
      case "unseen":
      case "closeup": {
        const answer = this.looks.get(message.ticket);
        this.looks.delete(message.ticket);
        answer?.(message);
        break;
      }
    }
  }

  /**
   * @param {Job} job
   * @param {boolean} isKept
   */
  end(job, isKept) {
    job.isDone = true;
    if (job.member) {
      job.member.job = null;
    }
    if (!isKept) {
      this.jobs.delete(job.id);
    }
    this.assign();
  }

  /**
   * A worker has broken: its runs are lost, another takes its place when there is work.
   *
   * @param {Member} member
   * @param {string} reason
   */
  lose(member, reason) {
    member.worker.terminate();
    this.members = this.members.filter((other) => other !== member);
    // One that never started would be followed by others that do not start: then nobody waits for them.
    const lost = [...this.jobs.values()].filter((job) => job.member === member || (!member.isReady && job.member === null));
    this.queue = this.queue.filter((job) => !lost.includes(job));
    for (const job of lost) {
      this.jobs.delete(job.id);
    }
    for (const job of lost) {
      job.failed(`The simulator stopped: ${reason}.`);
    }
    this.assign();
  }
}

/**
 * @param {Member} member
 * @param {ToWorker} message
 */
function tell(member, message) {
  member.worker.postMessage(message);
}
