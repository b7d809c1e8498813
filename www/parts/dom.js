// Elements without markup in strings: text is only ever shown as text.

/**
 * @typedef {Node | string | null | undefined | false} Child What an element may hold; nothing is left out.
 * @typedef {Record<string, unknown>} Properties `class`, `data-*`, `aria-*` and other attributes; `onclick` and other listeners.
 */

/**
 * Makes an element. Attributes that are `false`, `null` or `undefined` are left out, `true` stands without a value.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Properties} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on") && typeof value === "function") {
      element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    } else if (value === true) {
      element.setAttribute(key, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(key, String(value));
    }
  }
  element.append(...kept(children));
  return element;
}

/**
 * Replaces what an element holds.
 *
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...kept(children));
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function kept(children) {
  return /** @type {(Node | string)[]} */ (
    children.flat().filter((child) => child !== null && child !== undefined && child !== false)
  );
}

/**
 * The element of this id, which the page's HTML must have.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error(`the page has no element "${id}"`);
  }
  return element;
}

let made = 0;

/** A fresh id, for labels and descriptions. */
export function freshId() {
  made += 1;
  return `made-${made}`;
}

/**
 * Offers a file to the reader.
 *
 * @param {string} name
 * @param {Blob} blob
 */
export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  // The click has begun the download; the address may go once the browser has taken it up.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
