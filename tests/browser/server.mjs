// A static web server for dist/ on this machine: what any host of the page does, and nothing else.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";

/** What hosts say of each kind of file; a module script or a wasm module of another type is refused by browsers. */
const TYPES = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".json", "application/json"],
  [".wasm", "application/wasm"],
  [".svg", "image/svg+xml"],
  [".png", "image/png"],
]);

/**
 * Serves a folder on a free port of 127.0.0.1, below the path given: a page that uses relative addresses alone works anywhere.
 *
 * @param {string} folder
 * @param {string} [base] Begins and ends with a slash.
 * @returns {Promise<{ origin: string, base: string, close: () => Promise<void> }>}
 */
export async function serve(folder, base = "/") {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
    const inside = path.startsWith(base) ? normalize(path.slice(base.length)) : "..";
    const file = join(folder, inside === "." ? "index.html" : inside);
    const found = inside !== ".." && !inside.startsWith(`..${sep}`) && (await stat(file).catch(() => null))?.isFile();
    if (!found) {
      response.writeHead(404, { "content-type": "text/plain" }).end("not found");
      return;
    }
    response.writeHead(200, { "content-type": TYPES.get(extname(file)) ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("the server listens on no port");
  }
  return {
    origin: `http://127.0.0.1:${address.port}`,
    base,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined));
        server.closeAllConnections();
      }),
  };
}
