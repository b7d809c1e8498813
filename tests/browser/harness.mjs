// Opens the built page in a real Chromium, and watches everything it says and asks for.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { serve } from "./server.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("playwright-core").Browser} Browser */
/** @typedef {import("playwright-core").BrowserContextOptions} Options */

/** The built page. */
export const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));

/** Sandboxing needs rights that a container's root lacks; the rest keeps the browser from talking to anybody but the page. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long a page may take to reach a state before a test gives up: far above what it needs on a busy machine. */
const PATIENCE_MS = 60_000;

/** The three looks that a person may have of the page. @type {Record<"wide" | "narrow" | "dark", Options>} */
export const LOOKS = {
  wide: { viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  narrow: { viewport: { width: 360, height: 740 }, colorScheme: "light" },
  dark: { viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
};

/** What a page said and asked for while it was watched. */
export class Watch {
  /** @param {string} origin The only origin that may be asked. */
  constructor(origin) {
    this.origin = origin;
    /** Console messages of any level, of the page and its workers. @type {string[]} */
    this.consoleMessages = [];
    /** Exceptions that nobody caught. @type {string[]} */
    this.pageErrors = [];
    /** Policy violations that the document reported. @type {string[]} */
    this.violations = [];
    /** Every address asked for. @type {string[]} */
    this.requests = [];
    /** Answers that were not good, and requests that got none. @type {string[]} */
    this.failures = [];
  }

  /** The requests to anybody but the page's own origin. */
  get foreignRequests() {
    return this.requests.filter((url) => !/^(data|blob):/.test(url) && new URL(url).origin !== this.origin);
  }

  /** Fails when the page was not silent and self-sufficient. */
  assertClean() {
    assert.deepEqual(
      {
        consoleMessages: this.consoleMessages,
        pageErrors: this.pageErrors,
        violations: this.violations,
        foreignRequests: this.foreignRequests,
        failures: this.failures,
      },
      { consoleMessages: [], pageErrors: [], violations: [], foreignRequests: [], failures: [] },
    );
  }
}

/** A Chromium and a server of dist/. Close it when done. */
export class Laboratory {
  /**
   * @param {Browser} browser
   * @param {Awaited<ReturnType<typeof serve>>} server
   */
  constructor(browser, server) {
    this.browser = browser;
    this.server = server;
  }

  /**
   * @param {{ folder?: string, base?: string }} [options] What to serve, and below which path.
   */
  static async open({ folder = DIST, base = "/" } = {}) {
    assert.ok(existsSync(folder), "dist/ is missing: run `cargo xtask build` first");
    const executablePath = process.env.CHROME;
    assert.ok(executablePath, "CHROME must name a Chromium: `cargo xtask test --only browser` finds one");
    const server = await serve(folder, base);
    try {
      return new Laboratory(await chromium.launch({ executablePath, args: FLAGS }), server);
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  /**
   * Opens a page in a fresh browser profile. The page is being watched before it loads.
   *
   * @param {string} path Relative to dist/, with query and fragment.
   * @param {Options} [options]
   * @returns {Promise<{ page: Page, watch: Watch, close: () => Promise<void> }>}
   */
  async visit(path = "", options = LOOKS.wide) {
    const context = await this.browser.newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    const watch = new Watch(this.server.origin);
    context.on("console", (message) => watch.consoleMessages.push(`${message.type()}: ${message.text()}`));
    context.on("weberror", (error) => watch.pageErrors.push(String(error.error())));
    context.on("request", (request) => watch.requests.push(request.url()));
    context.on("requestfailed", (request) => watch.failures.push(`${request.url()}: ${request.failure()?.errorText}`));
    context.on("response", (response) => {
      if (response.status() >= 400) {
        watch.failures.push(`${response.url()}: ${response.status()}`);
      }
    });
    await context.exposeFunction("reportViolation", (/** @type {string} */ text) => watch.violations.push(text));
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        const report = /** @type {{ reportViolation: (text: string) => void }} */ (/** @type {unknown} */ (window));
        report.reportViolation(`${event.violatedDirective}: ${event.blockedURI || event.sourceFile}`);
      });
    });
    const page = await context.newPage();
    await page.goto(`${this.server.origin}${this.server.base}${path}`);
    return { page, watch, close: () => context.close() };
  }

  async close() {
    await this.browser.close();
    await this.server.close();
  }
}

/**
 * Waits until the page says on its root element that it has reached a state.
 *
 * @param {Page} page
 * @param {string} [state]
 */
export async function reached(page, state = "ready") {
  await page.waitForFunction((wanted) => document.documentElement.dataset.state === wanted, state);
}

/**
 * What axe-core finds wrong with the page as it stands, one line a finding.
 *
 * @param {Page} page
 * @returns {Promise<string[]>}
 */
export async function accessibilityFindings(page) {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return page.evaluate(async () => {
    const { axe } = /** @type {{ axe: typeof import("axe-core") }} */ (/** @type {unknown} */ (window));
    const { violations } = await axe.run();
    return violations.map((found) => `${found.id}: ${found.help} (${found.nodes.map((node) => node.html).join(", ")})`);
  });
}
