// What the page and its worker say to each other. Types only: both sides are checked against them.

/**
 * @typedef {{ kind: "ready", modelVersion: number }} Ready The module is loaded and can simulate.
 * @typedef {{ kind: "failed", reason: string }} Failed The module cannot be loaded; the reason is a sentence's middle.
 * @typedef {Ready | Failed} FromWorker
 */

export {};
