// Values that can be set: each with its name, what it does, its range and unit, and what is wrong with it beside it.

import { fill, freshId, h } from "./dom.js";

/** @typedef {import("./laboratory.js").Laboratory} Laboratory */
/** @typedef {import("./messages.js").Checked} Checked */
/** @typedef {import("./messages.js").Field} Field */

/** After the last key, before a value is tried: wall time. */
const TYPING_MS = 350;

/**
 * @typedef {object} Row A field on the page.
 * @property {HTMLElement} element
 * @property {HTMLInputElement | HTMLSelectElement} control
 * @property {HTMLElement} complaint
 * @property {HTMLButtonElement} reset
 * @property {Field} field
 */

export class Fields {
  /**
   * @param {Laboratory} laboratory
   * @param {string} group Which fields of the setting.
   * @param {(element: HTMLElement) => void} explain
   */
  constructor(laboratory, group, explain) {
    this.laboratory = laboratory;
    this.group = group;
    this.explain = explain;
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    this.element = h("div", { class: "fields" });
    laboratory.on("checked", (checked) => this.show(checked));
  }

  /** @param {Checked} checked */
  show(checked) {
    const fields = checked.fields.filter(({ group }) => group === this.group);
    const isSame = fields.length === this.rows.size && fields.every((field) => this.rows.get(field.path)?.field.kind === field.kind);
    // While something is wrong there may be no fields: those on the page stay.
    if (!isSame && fields.length > 0) {
      this.rows = new Map(fields.map((field) => [field.path, this.row(field)]));
      fill(this.element, [...this.rows.values()].map(({ element }) => element));
    }
    for (const field of fields) {
      this.update(field);
    }
    for (const [path, row] of this.rows) {
      const complaints = checked.complaints.filter((complaint) => complaint.path === path);
      fill(row.complaint, complaints.map(({ text }) => text).join(" "));
      row.complaint.hidden = complaints.length === 0;
      row.control.setAttribute("aria-invalid", String(complaints.length > 0));
      row.reset.hidden = (this.given(path) ?? row.field.usual) === row.field.usual;
    }
  }

  /** @param {Field} field */
  update(field) {
    const row = this.rows.get(field.path);
    if (row === undefined) {
      return;
    }
    row.field = field;
    // What somebody is writing is not written over.
    if (document.activeElement !== row.control || row.control instanceof HTMLSelectElement) {
      if (field.kind === "switch") {
        /** @type {HTMLInputElement} */ (row.control).checked = field.value === "1" || field.value === "true";
      } else {
        row.control.value = this.given(field.path) ?? field.value;
      }
    }
  }

  /**
   * @param {Field} field
   * @returns {Row}
   */
  row(field) {
    const [id, about, complaint] = [freshId(), freshId(), freshId()];
    const described = { id, "aria-describedby": `${complaint} ${about}` };
    const set = (/** @type {string} */ value) => this.set(field, value);
    let control;
    if (field.kind === "choice") {
      control = h("select", { ...described, onchange: (/** @type {Event} */ event) => set(/** @type {HTMLSelectElement} */ (event.target).value) }, field.choices.map((choice) => h("option", {}, choice)));
    } else if (field.kind === "switch") {
      control = h("input", {
        ...described,
        type: "checkbox",
        role: "switch",
        onchange: (/** @type {Event} */ event) => {
          const { checked } = /** @type {HTMLInputElement} */ (event.target);
          set(field.choices[checked ? 1 : 0]);
        },
      });
    } else {
      control = this.text(field, described, set);
    }
    control.dataset.path = field.path;
    const complaintElement = h("p", { class: "complaint", id: complaint, role: "alert", hidden: true });
    const reset = h("button", { type: "button", class: "quiet", hidden: true, "aria-label": `${field.name}: back to ${field.usual} ${field.unit}`, onclick: () => this.set(field, "") }, "Reset");
    const words = h("p", { class: "hint", id: about }, field.about, field.range ? h("span", { class: "range" }, field.kind === "number" && /^[0-9]/.test(field.range) ? `Allowed: ${field.range}` : field.range) : null);
    const label = h("label", { for: id }, h("code", {}, field.name));
    const element = h("div", { class: "field" }, label, h("span", { class: "control" }, control, field.unit ? h("span", { class: "unit" }, field.unit) : null, reset), complaintElement, words);
    this.explain(words);
    return { element, control, complaint: complaintElement, reset, field };
  }

  /**
   * The seed is the setting's own; everything else is an override, and what is usual needs none.
   *
   * @param {Field} field
   * @param {string} value Empty for what is usual.
   */
  set(field, value) {
    if (field.path === "seed") {
      this.laboratory.change({ seed: value === "" ? field.usual : value });
    } else {
      this.laboratory.override(field.path, value === "" || value === field.usual ? null : value);
    }
  }

  /** What somebody has set a field to. @param {string} path */
  given(path) {
    const { overrides, seed } = this.laboratory.setting;
    return path === "seed" ? seed || undefined : overrides[path];
  }

  /**
   * @param {Field} field
   * @param {Record<string, string>} described
   * @param {(value: string) => void} set
   */
  text(field, described, set) {
    let timer = 0;
    const control = h("input", { ...described, type: "text", inputmode: "text", size: "8", autocomplete: "off", spellcheck: "false" });
    const take = () => {
      clearTimeout(timer);
      const value = control.value.trim();
      if (value !== (this.given(field.path) ?? this.rows.get(field.path)?.field.value)) {
        set(value);
      }
    };
    control.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(take, TYPING_MS);
    });
    control.addEventListener("change", take);
    return control;
  }
}
