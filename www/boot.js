// Starts the page or the embedded figure: the module, the workers, and what the link asks for.

import init, { Board } from "./stallarium-web.js";
import { opened } from "./parts/address.js";
import { byId, fill, h } from "./parts/dom.js";
import { embed } from "./parts/embed.js";
import { Laboratory } from "./parts/laboratory.js";
import { page } from "./parts/page.js";
import { Pool } from "./parts/pool.js";
import * as terms from "./parts/terms.js";

const root = document.documentElement;

/**
 * Says what went wrong, and the way out. What is already on the screen stays.
 *
 * @param {string} sentence
 */
function fail(sentence) {
  const again = h("button", { type: "button", onclick: () => location.reload() }, "Reload");
  fill(byId("status"), sentence, " ", again);
  byId("status").hidden = false;
  root.dataset.state = "failed";
}

/** @returns {Promise<WebAssembly.Module>} */
async function compile() {
  const response = await fetch(new URL("stallarium-web_bg.wasm", import.meta.url));
  if (!response.ok) {
    throw new Error(`the server answered ${response.status} to the request for stallarium-web_bg.wasm`);
  }
  // A host that does not know the type of wasm files gets the slower way.
  const isTyped = response.headers.get("content-type")?.startsWith("application/wasm");
  return isTyped ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

async function start() {
  if (typeof WebAssembly === "undefined" || typeof Worker === "undefined") {
    fail("This browser has no WebAssembly or no workers, which the simulator needs: any browser since 2020 has both.");
    return;
  }
  const compiled = compile();
  const pool = new Pool(compiled);
  try {
    await init({ module_or_path: await compiled });
  } catch (error) {
    fail(`The simulator could not be loaded: ${error instanceof Error ? error.message : error}.`);
    return;
  }
  terms.begin();
  const from = await opened();
  const laboratory = new Laboratory(pool, new Board(), from.setting, from.view);
  laboratory.on("results", (isComplete) => {
    if (isComplete) {
      // The pictures are drawn at the next frame; after it the page is what its reader came for.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          root.dataset.state = "ready";
          performance.mark("ready");
        }),
      );
    }
  });
  laboratory.on("failure", () => {
    root.dataset.state = "failed";
  });
  const show = "embedded" in root.dataset ? embed : page;
  show(laboratory, from);
}

addEventListener("error", (event) => fail(`Something in the page went wrong: ${event.message}.`));
addEventListener("unhandledrejection", (event) => fail(`Something in the page went wrong: ${event.reason}.`));
await start();
