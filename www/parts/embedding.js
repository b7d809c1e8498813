// The embedded figure and its parent: switches in the query, and two messages. Both are promises: docs/embedding.md.

/**
 * @typedef {object} Switches
 * @property {"auto" | "light" | "dark"} theme
 * @property {"none" | "min" | "full"} controls
 * @property {boolean} run Whether to run at once.
 * @property {boolean} isReadOnly Nothing can be changed; it can still be looked at closely.
 */

/** The names of the messages, with the version of the promise. */
export const HEIGHT_MESSAGE = "stallarium-1-height";
export const THEME_MESSAGE = "stallarium-1-theme";

/**
 * Reads the query. What it does not know it leaves alone: an older page must open a newer snippet.
 *
 * @param {string} query
 * @returns {Switches}
 */
export function switches(query) {
  const given = new URLSearchParams(query);
  const choice = (/** @type {string} */ name, /** @type {string[]} */ known) => {
    const value = given.get(name) ?? "";
    return known.includes(value) ? value : known[0];
  };
  return {
    theme: /** @type {Switches["theme"]} */ (choice("theme", ["auto", "light", "dark"])),
    controls: /** @type {Switches["controls"]} */ (choice("controls", ["min", "none", "full"])),
    run: choice("run", ["1", "0"]) === "1",
    isReadOnly: choice("ro", ["0", "1"]) === "1",
  };
}

/**
 * @param {string} theme
 * @param {() => void} redraw
 */
export function setTheme(theme, redraw) {
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset.theme = theme;
  } else {
    delete document.documentElement.dataset.theme;
  }
  redraw();
}

/**
 * Tells the parent the height whenever it changes, and takes a theme from it. Anybody may embed, so the height, which is no
 * secret, goes to whoever the parent is.
 *
 * @param {() => void} redraw
 */
export function converse(redraw) {
  if (window.parent === window) {
    return;
  }
  const tell = () => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    window.parent.postMessage({ type: HEIGHT_MESSAGE, height }, "*");
  };
  new ResizeObserver(tell).observe(document.documentElement);
  tell();
  addEventListener("message", (event) => {
    if (event.source === window.parent && event.data?.type === THEME_MESSAGE) {
      setTheme(String(event.data.theme), redraw);
    }
  });
}
