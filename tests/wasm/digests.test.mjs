// The wasm module gives what native code gives.

import assert from "node:assert/strict";
import { test } from "node:test";
import stallarium from "./module.mjs";

test("the module loads under Node.js and knows its model version", () => {
  assert.equal(stallarium.model_version(), 1);
});
