// The stretch of time that the close-up shows: moved, zoomed, chosen. Whoever draws it listens.

/** After the last movement, before the window is simulated again in full detail: wall time. */
const SETTLE_MS = 120;
/** There is no floor to the zoom but the clock's own grain. */
const SHORTEST_NS = 10;

export class Span {
  constructor() {
    this.start_ns = 0;
    this.end_ns = 1;
    /** The run's end. */
    this.limit_ns = 1;
    /** @type {((isSettled: boolean) => void)[]} */
    this.listeners = [];
    this.timer = 0;
  }

  get length_ns() {
    return this.end_ns - this.start_ns;
  }

  /** @param {(isSettled: boolean) => void} listener Told at once of every movement, and once more when it has settled. */
  listen(listener) {
    this.listeners.push(listener);
  }

  /**
   * Shows a stretch, held within the run.
   *
   * @param {number} start_ns
   * @param {number} end_ns
   * @param {boolean} [isSettled] Whether no more movement is to be expected.
   */
  set(start_ns, end_ns, isSettled = false) {
    // Ends that nobody could tell apart on the screen are rounded to what reads well.
    const grain = 10 ** Math.max(Math.floor(Math.log10((end_ns - start_ns) / 2000)), 0);
    const round = (/** @type {number} */ ns) => Math.round(ns / grain) * grain;
    const length = Math.min(Math.max(round(end_ns - start_ns), SHORTEST_NS), this.limit_ns);
    const start = Math.min(Math.max(round(start_ns), 0), this.limit_ns - length);
    this.start_ns = start;
    this.end_ns = start + length;
    this.tell(false);
    clearTimeout(this.timer);
    if (isSettled) {
      this.tell(true);
    } else {
      this.timer = setTimeout(() => this.tell(true), SETTLE_MS);
    }
  }

  /** @param {boolean} isSettled */
  tell(isSettled) {
    for (const listener of this.listeners) {
      listener(isSettled);
    }
  }

  /**
   * Zooms: below 1 comes closer. What lies at `around_ns` stays where it is.
   *
   * @param {number} factor
   * @param {number} [around_ns]
   */
  zoom(factor, around_ns = this.start_ns + this.length_ns / 2) {
    const share = (around_ns - this.start_ns) / this.length_ns;
    const length = Math.max(this.length_ns * factor, SHORTEST_NS);
    this.set(around_ns - share * length, around_ns + (1 - share) * length);
  }

  /** @param {number} share Of its own length; above 0 moves to later times. */
  move(share) {
    this.set(this.start_ns + share * this.length_ns, this.end_ns + share * this.length_ns);
  }
}

/** What the keys do, as help for those who look for it. */
export const KEYS = "Arrow keys move, + and - zoom, Home shows the beginning, 0 shows the whole run.";

/**
 * Lets the keyboard move a span while an element has the focus.
 *
 * @param {HTMLElement} element
 * @param {Span} span
 */
export function keys(element, span) {
  element.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight + - Home 0");
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const action = {
      ArrowLeft: () => span.move(event.shiftKey ? -0.5 : -0.1),
      ArrowRight: () => span.move(event.shiftKey ? 0.5 : 0.1),
      "+": () => span.zoom(0.5),
      "=": () => span.zoom(0.5),
      "-": () => span.zoom(2),
      Home: () => span.set(0, span.length_ns),
      0: () => span.set(0, span.limit_ns),
    }[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
}

/**
 * Lets the pointer move a span: drag to move, Ctrl and the wheel (or a pinch) to zoom, a double click to come closer.
 *
 * @param {import("./figure.js").Figure} figure
 * @param {Span} span
 */
export function dragToMove(figure, span) {
  const { stage } = figure;
  /** @type {{ at_ns: number, per_px: number, x: number, start: number } | null} */
  let grip = null;
  stage.addEventListener("pointerdown", (event) => {
    const x = event.clientX - stage.getBoundingClientRect().left;
    const at_ns = figure.picture?.time_at(x);
    const beside = figure.picture?.time_at(x + 1) ?? figure.picture?.time_at(x - 1);
    if (event.button === 0 && at_ns !== undefined && beside !== undefined) {
      grip = { at_ns, per_px: Math.abs(beside - at_ns) || span.length_ns / stage.clientWidth, x: event.clientX, start: span.start_ns };
    }
  });
  stage.addEventListener("pointermove", (event) => {
    if (grip !== null && (stage.hasPointerCapture(event.pointerId) || Math.abs(event.clientX - grip.x) > 3)) {
      stage.setPointerCapture(event.pointerId);
      const start = grip.start - (event.clientX - grip.x) * grip.per_px;
      span.set(start, start + span.length_ns);
    }
  });
  const release = () => {
    grip = null;
  };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);
  stage.addEventListener("dblclick", (event) => {
    span.zoom(0.5, figure.picture?.time_at(event.clientX - stage.getBoundingClientRect().left));
  });
  stage.addEventListener(
    "wheel",
    (event) => {
      if (event.ctrlKey) {
        event.preventDefault();
        span.zoom(event.deltaY < 0 ? 0.8 : 1.25, figure.picture?.time_at(event.clientX - stage.getBoundingClientRect().left));
      }
    },
    { passive: false },
  );
}

/**
 * Lets the pointer choose a span by drawing over a chart of the whole run; a click centres it.
 *
 * @param {import("./figure.js").Figure} figure
 * @param {Span} span
 */
export function dragToChoose(figure, span) {
  const { stage } = figure;
  /** @type {number | null} */
  let from = null;
  const time = (/** @type {PointerEvent} */ event) => figure.picture?.time_at(event.clientX - stage.getBoundingClientRect().left) ?? null;
  stage.addEventListener("pointerdown", (event) => {
    from = event.button === 0 ? time(event) : null;
    if (from !== null) {
      stage.setPointerCapture(event.pointerId);
    }
  });
  stage.addEventListener("pointermove", (event) => {
    const to = time(event);
    if (from !== null && to !== null && Math.abs(to - from) > span.limit_ns / 500) {
      span.set(Math.min(from, to), Math.max(from, to));
    }
  });
  stage.addEventListener("pointerup", (event) => {
    const to = time(event);
    if (from !== null && to !== null && Math.abs(to - from) <= span.limit_ns / 500) {
      span.set(to - span.length_ns / 2, to + span.length_ns / 2);
    }
    from = null;
  });
  stage.addEventListener("pointercancel", () => {
    from = null;
  });
}
