// The policy that both pages carry: nothing but their own files, no inline script, nothing sent anywhere.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DIST } from "./harness.mjs";

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

for (const name of ["index.html", "embed.html"]) {
  test(`${name} carries the whole policy before anything that it governs`, async () => {
    const html = await readFile(join(DIST, name), "utf8");
    const meta = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
    assert.ok(html.includes(meta), "the policy's meta element");
    const governed = [...html.matchAll(/<(script|link|style|img)\b/g)].map((match) => match.index);
    assert.ok(html.indexOf(meta) < Math.min(...governed), "an element stands before the policy");
  });

  test(`${name} names its files relative to itself, and has no inline script, style or handler`, async () => {
    const html = await readFile(join(DIST, name), "utf8");
    const addresses = [...html.matchAll(/\s(?:src|href)="([^"]*)"/g)].map((match) => match[1]);
    assert.ok(addresses.length > 0);
    assert.deepEqual(addresses.filter((address) => /^(\/|[a-z]+:\/\/)/.test(address)), []);
    assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)/);
    assert.doesNotMatch(html, /<style\b|\sstyle=|\son[a-z]+=/);
  });
}
