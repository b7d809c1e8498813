// Compressed links: raw deflate, by the browser's own compressor, and base64 with the alphabet for addresses. The module reads and
// writes the readable form alone (crate/sim/src/scenario/link/packing.rs).

/** A link never unpacks to more, however small it is. The module refuses from three times 64 KiB on. */
const UNPACKED_MAX = 3 * 64 * 1024 + 1;

/**
 * The shorter of a readable fragment and its compressed form; the readable one where the browser cannot compress.
 *
 * @param {string} fragment With its `#`.
 * @returns {Promise<string>}
 */
export async function packed(fragment) {
  const [, schema, text] = /^#(\d+)t\.(.*)$/s.exec(fragment) ?? [];
  if (schema === undefined) {
    return fragment;
  }
  try {
    const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
    const payload = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const short = `#${schema}z.${payload}`;
    return short.length < fragment.length ? short : fragment;
  } catch {
    return fragment;
  }
}

/**
 * A fragment in its readable form. One that cannot be unpacked comes back as it is: the module says what is wrong with it.
 *
 * @param {string} fragment With or without its `#`.
 * @returns {Promise<string>}
 */
export async function unpacked(fragment) {
  const [, schema, payload] = /^#?(\d+)z\.(.*)$/s.exec(fragment) ?? [];
  if (schema === undefined) {
    return fragment;
  }
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    const text = await through(bytes, new DecompressionStream("deflate-raw"));
    return `#${schema}t.${new TextDecoder("utf-8", { fatal: true }).decode(text)}`;
  } catch {
    return fragment;
  }
}

/**
 * What comes out of a stream that bytes are put into, up to what a link may unpack to.
 *
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {GenericTransformStream} stream
 */
async function through(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(/** @type {ReadableWritablePair<Uint8Array, any>} */ (stream)).getReader();
  const all = new Uint8Array(UNPACKED_MAX);
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return all.subarray(0, length);
    }
    const part = value.subarray(0, all.length - length);
    all.set(part, length);
    length += part.length;
    if (length === all.length) {
      await reader.cancel();
      return all;
    }
  }
}
