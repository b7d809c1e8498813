// Taking it away: the link, and the snippet that embeds the figure.

import { link_advice } from "../stallarium-web.js";
import { address, fragment } from "./address.js";
import { fill, h } from "./dom.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */

/**
 * The buttons that copy.
 *
 * @param {Laboratory} laboratory
 */
export function share(laboratory) {
  const said = h("span", { class: "said", role: "status" });
  const shown = h("input", { type: "text", class: "copied", readonly: true, hidden: true, "aria-label": "Copy this text" });
  const copy = async (/** @type {string} */ text, /** @type {string} */ what) => {
    try {
      await navigator.clipboard.writeText(text);
      shown.hidden = true;
      fill(said, `${what} copied. ${link_advice(fragment(laboratory))}`);
    } catch {
      // No clipboard without a secure origin or a permission: the text itself is the way out.
      shown.hidden = false;
      shown.value = text;
      shown.select();
      fill(said, "Copy the text shown here.");
    }
  };
  return h(
    "div",
    { class: "share" },
    h("button", { type: "button", onclick: () => copy(address(laboratory), "Link") }, "Copy link"),
    h("button", { type: "button", onclick: () => copy(snippet(laboratory), "Embed snippet") }, "Copy embed snippet"),
    shown,
    said,
  );
}

/**
 * HTML that shows the figure in another page.
 *
 * @param {Laboratory} laboratory
 */
export function snippet(laboratory) {
  const url = new URL("embed.html?controls=min", document.baseURI);
  url.hash = fragment(laboratory);
  const escape = (/** @type {string} */ text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${escape(url.href)}" title="Stallarium: one figure" width="100%" height="480" loading="lazy" allow="clipboard-write"></iframe>`;
}
