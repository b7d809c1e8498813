// Words that explain themselves: on hover and on focus, with the section of the model they come from.

import { terms } from "../stallarium-web.js";
import { fill, h } from "./dom.js";

/** @typedef {{ name: string, definition: string, section: string }} Term */


/** @type {Map<string, Term>} */
let known = new Map();
/** @type {RegExp} */
let pattern = /$^/g;
const tip = h("div", { class: "definition", role: "tooltip", id: "definition", hidden: true });

/** Reads the terms once and puts the one explanation into the page. */
export function begin() {
  const all = /** @type {Term[]} */ (terms());
  known = new Map(all.map((term) => [term.name.toLowerCase(), term]));
  const names = [...known.keys()].sort((one, other) => other.length - one.length).map((name) => name.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  pattern = new RegExp(`(?<![\\w/-])(${names.join("|")})(?![\\w/-])`, "gi");
  document.body.append(tip);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      tip.hidden = true;
    }
  });
  document.addEventListener("scroll", () => (tip.hidden = true), { passive: true });
}

/**
 * Makes the first occurrence of each term in a text explain itself.
 *
 * @param {HTMLElement} element
 */
export function explain(element) {
  const seen = new Set();
  for (const node of textsOf(element)) {
    const text = node.data;
    /** @type {(string | Node)[]} */
    const parts = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      const term = known.get(match[0].toLowerCase());
      if (term !== undefined && !seen.has(term)) {
        seen.add(term);
        parts.push(text.slice(end, match.index), marked(match[0], term));
        end = match.index + match[0].length;
      }
    }
    if (parts.length > 0) {
      node.replaceWith(...parts, text.slice(end));
    }
  }
}

/**
 * @param {HTMLElement} element
 * @returns {Text[]}
 */
function textsOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const texts = [];
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (!node.parentElement?.closest("button, code, a, label")) {
      texts.push(node);
    }
  }
  return texts;
}

/**
 * @param {string} word
 * @param {Term} term
 */
function marked(word, term) {
  const show = () => {
    fill(tip, h("strong", {}, term.name), " ", term.definition, h("span", { class: "source" }, ` Model, section ${term.section}`));
    tip.hidden = false;
    const box = button.getBoundingClientRect();
    const left = Math.min(Math.max(box.left, 8), Math.max(document.documentElement.clientWidth - tip.offsetWidth - 8, 8));
    const below = box.bottom + 6;
    const top = below + tip.offsetHeight > window.innerHeight ? box.top - tip.offsetHeight - 6 : below;
    tip.style.left = `${left}px`;
    tip.style.top = `${top}px`;
  };
  const hide = () => {
    tip.hidden = true;
  };
  const button = h(
    "button",
    { type: "button", class: "term", "aria-describedby": tip.id, onmouseenter: show, onfocus: show, onclick: show, onmouseleave: hide, onblur: hide },
    word,
  );
  return button;
}
