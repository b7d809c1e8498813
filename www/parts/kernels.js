// The kernels: the experiment's columns as switches, and a form that adds any other.

import { catalogue } from "../stallarium-web.js";
import { fill, freshId, h } from "./dom.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./messages.js").Checked} Checked */
/** @typedef {import("./messages.js").Column} Column */

/**
 * @typedef {object} Release
 * @property {string} name
 * @property {string} about
 * @property {string[]} elevators
 * @property {string[]} patches Those that apply to it.
 *
 * @typedef {{ releases: Release[], patches: { name: string, about: string }[], columns_max: number, default_release: string }} Catalogue
 */

export class Kernels {
  /** @param {Laboratory} laboratory */
  constructor(laboratory) {
    this.laboratory = laboratory;
    this.known = /** @type {Catalogue} */ (catalogue());
    this.list = h("ul", { class: "kernels" });
    this.complaint = h("p", { class: "complaint", role: "alert", hidden: true });
    this.element = h("div", {}, this.list, this.complaint, this.adder());
    laboratory.on("checked", (checked) => this.show(checked));
  }

  /** @param {Checked} checked */
  show(checked) {
    const focused = document.activeElement instanceof HTMLElement && this.list.contains(document.activeElement) ? document.activeElement.id : "";
    if (checked.columns.length > 0) {
      fill(this.list, checked.columns.map((column) => this.item(column)));
      if (focused) {
        document.getElementById(focused)?.focus();
      }
    }
    const complaints = checked.complaints.filter(({ path }) => path.startsWith("kernels"));
    fill(this.complaint, complaints.map(({ text }) => text).join(" "));
    this.complaint.hidden = complaints.length === 0;
  }

  /** @param {Column} column */
  item(column) {
    const about = freshId();
    const input = h("input", {
      type: "checkbox",
      role: "switch",
      id: `kernel-${column.label.replaceAll(/[^a-z0-9]+/gi, "-")}`,
      "aria-describedby": about,
      onchange: () => this.toggle(column, input.checked),
    });
    input.checked = column.is_on;
    const remove = h("button", { type: "button", class: "quiet", "aria-label": `Remove ${column.label}`, onclick: () => this.toggle(column, false) }, "Remove");
    return h(
      "li",
      {},
      h(
        "label",
        {},
        input,
        h("span", { class: "swatch", "data-slot": String(column.slot) }),
        h("span", {}, column.label),
      ),
      column.is_extra ? remove : null,
      h("p", { class: "hint", id: about }, column.about, column.label === column.name ? null : h("code", {}, column.name)),
    );
  }

  /**
   * @param {Column} column
   * @param {boolean} isOn
   */
  toggle(column, isOn) {
    const on = this.laboratory.columns.filter((other) => (other === column ? isOn : other.is_on)).map((other) => other.name);
    if (on.length === 0) {
      fill(this.complaint, "At least one kernel stays switched on.");
      this.complaint.hidden = false;
      this.laboratory.change({});
      fill(this.complaint, "At least one kernel stays switched on.");
      this.complaint.hidden = false;
      return;
    }
    this.laboratory.change({ kernels: on });
  }

  adder() {
    const release = h("select", { id: freshId() }, this.known.releases.map(({ name }) => h("option", {}, name)));
    release.value = this.known.default_release;
    const elevator = h("select", { id: freshId() });
    const patches = h("fieldset", { class: "patches" });
    const add = h("button", { type: "submit" }, "Add this kernel");
    const refill = () => {
      const chosen = this.known.releases.find(({ name }) => name === release.value) ?? this.known.releases[0];
      const before = elevator.value;
      fill(elevator, chosen.elevators.map((name) => h("option", {}, name)));
      elevator.value = chosen.elevators.includes(before) ? before : (chosen.elevators.find((name) => name === "cfq") ?? chosen.elevators[0]);
      const applicable = this.known.patches.filter(({ name }) => chosen.patches.includes(name));
      fill(
        patches,
        h("legend", {}, "Patches"),
        applicable.length === 0 ? h("p", { class: "hint" }, "No patch applies to this release.") : null,
        applicable.map(({ name, about }) => {
          const id = freshId();
          return h("div", {}, h("label", {}, h("input", { type: "checkbox", value: name, "aria-describedby": id }), h("code", {}, name)), h("p", { class: "hint", id }, about));
        }),
      );
    };
    release.addEventListener("change", refill);
    refill();
    const form = h(
      "form",
      {
        class: "adder",
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          const chosen = [...patches.querySelectorAll("input")].filter((input) => input.checked).map((input) => `+${input.value}`);
          this.add(`${elevator.value}@${release.value}${chosen.join("")}`);
        },
      },
      h("div", { class: "pair" }, h("label", { for: release.id }, "Release"), release),
      h("div", { class: "pair" }, h("label", { for: elevator.id }, "Elevator"), elevator),
      patches,
      add,
    );
    return h("details", { class: "more" }, h("summary", {}, "Add a kernel"), form);
  }

  /** @param {string} name */
  add(name) {
    const on = this.laboratory.on_columns();
    if (on.some((column) => column.name === name || column.label === name)) {
      fill(this.complaint, `${name} is there already.`);
      this.complaint.hidden = false;
    } else if (on.length >= this.known.columns_max) {
      fill(this.complaint, `At most ${this.known.columns_max} kernels are compared at once: switch one off first.`);
      this.complaint.hidden = false;
    } else {
      this.laboratory.change({ kernels: [...on.map((column) => column.name), name] });
    }
  }
}
