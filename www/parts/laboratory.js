// What is to be run, what has been run, and the runs under way. The page's parts change the setting here and listen.

/** @typedef {import("./messages.js").Setting} Setting */
/** @typedef {import("./messages.js").View} View */
/** @typedef {import("./messages.js").Checked} Checked */
/** @typedef {import("./messages.js").Column} Column */
/** @typedef {import("./pool.js").Pool} Pool */
/** @typedef {import("../stallarium-web.js").Board} Board */

/**
 * @typedef {object} Pending A run under way.
 * @property {number} id Of the pool.
 * @property {string} label
 * @property {number} now_ns
 * @property {number} limit_ns
 * @property {number} began Wall time, ms.
 */

/**
 * @typedef {object} Events
 * @property {Checked} checked The setting was changed; it may be wrong.
 * @property {null} progress Runs have come further, begun or been stopped.
 * @property {boolean} results There are other results; whether they are all that was asked for.
 * @property {string} failure A run failed; a sentence.
 * @property {null} view Something else is looked at.
 */

export class Laboratory {
  /**
   * @param {Pool} pool
   * @param {Board} board Where results go.
   * @param {Setting} setting
   * @param {View} view
   */
  constructor(pool, board, setting, view) {
    this.pool = pool;
    this.board = board;
    this.setting = setting;
    this.view = view;
    /** The last setting that could be run: what is on the screen. */
    this.good = setting;
    /** @type {Column[]} */
    this.columns = [];
    /** Runs under way, by key. @type {Map<string, Pending>} */
    this.pending = new Map();
    /** Finished runs that the pool keeps for close looks, by key. @type {Map<string, number>} */
    this.finished = new Map();
    /** Whether the reader stopped the runs. */
    this.isStopped = false;
    /** @type {{ [Name in keyof Events]?: ((detail: Events[Name]) => void)[] }} */
    this.listeners = {};
  }

  /**
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {(detail: Events[Name]) => void} listener
   */
  on(name, listener) {
    /** @type {((detail: Events[Name]) => void)[]} */
    const all = (this.listeners[name] ??= []);
    all.push(listener);
  }

  /**
   * @template {keyof Events} Name
   * @param {Name} name
   * @param {Events[Name]} detail
   */
  emit(name, detail) {
    for (const listener of this.listeners[name] ?? []) {
      listener(detail);
    }
  }

  /**
   * Changes the setting, and runs what it needs if it is right. If it is wrong the last good run stays.
   *
   * @param {Partial<Setting>} change
   */
  change(change) {
    this.setting = { ...this.setting, ...change };
    const checked = /** @type {Checked} */ (this.board.set(this.setting));
    if (checked.complaints.length === 0) {
      this.good = this.setting;
      this.columns = checked.columns;
      this.isStopped = false;
      this.start();
    }
    this.emit("checked", checked);
    if (checked.complaints.length === 0) {
      this.emit("results", this.isComplete());
      this.emit("progress", null);
    }
  }

  /**
   * Shows another case, as long as fits it.
   *
   * @param {string} name
   */
  show(name) {
    const overrides = { ...this.setting.overrides };
    delete overrides.time;
    this.look({ start_ns: 0, end_ns: 0 });
    this.change({ case: name, overrides });
  }

  /**
   * Sets one value, or with `null` leaves it to the experiment.
   *
   * @param {string} path
   * @param {string | null} value
   */
  override(path, value) {
    const overrides = { ...this.setting.overrides };
    if (value === null) {
      delete overrides[path];
    } else {
      overrides[path] = value;
    }
    this.change({ overrides });
  }

  /** @param {Partial<View>} change */
  look(change) {
    this.view = { ...this.view, ...change };
    this.emit("view", null);
  }

  /** The columns that are switched on. */
  on_columns() {
    return this.columns.filter((column) => column.is_on);
  }

  /** Whether every run that is asked for is there. */
  isComplete() {
    return this.on_columns().every((column) => this.board.has(column.key));
  }

  /** Starts what is missing, stops what is no longer wanted. */
  start() {
    const wanted = new Map(this.on_columns().map((column) => [column.key, column]));
    for (const [key, { id }] of this.pending) {
      if (!wanted.has(key)) {
        this.pool.cancel(id);
        this.pending.delete(key);
      }
    }
    for (const [key, id] of this.finished) {
      if (!wanted.has(key)) {
        this.pool.cancel(id);
        this.finished.delete(key);
      }
    }
    for (const [key, column] of wanted) {
      // A run without its worker cannot be looked at closely, so it is run again.
      if (!this.pending.has(key) && !this.finished.has(key)) {
        this.run(key, column);
      }
    }
    this.board.forget_others();
  }

  /**
   * @param {string} key
   * @param {Column} column
   */
  run(key, column) {
    const pending = { id: 0, label: column.label, now_ns: 0, limit_ns: 0, began: performance.now() };
    pending.id = this.pool.run({
      setting: this.good,
      kernel: column.label,
      keep: true,
      progress: (now_ns, limit_ns) => {
        Object.assign(pending, { now_ns, limit_ns });
        this.emit("progress", null);
      },
      done: ({ bytes }) => {
        this.pending.delete(key);
        this.finished.set(key, pending.id);
        this.board.put(key, bytes);
        this.emit("results", this.isComplete());
        this.emit("progress", null);
      },
      failed: (reason) => {
        this.pending.delete(key);
        this.finished.delete(key);
        this.emit("failure", `${column.label}: ${reason}`);
        this.emit("progress", null);
      },
    });
    this.pending.set(key, pending);
  }

  /** Stops every run at once; what has been shown stays. */
  stop() {
    for (const { id } of this.pending.values()) {
      this.pool.cancel(id);
    }
    this.pending.clear();
    this.isStopped = true;
    this.emit("progress", null);
  }

  /** Runs again what failed or was stopped. */
  again() {
    this.isStopped = false;
    this.start();
    this.emit("progress", null);
  }
}
