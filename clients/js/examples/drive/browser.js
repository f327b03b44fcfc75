/** Headless Chromium, and what a visitor sees of a page. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export class Visitor {
  /** A new visitor, without cookies. `pictures`: the folder for screenshots. */
  static async open(browser, site, pictures) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    return new Visitor(context, await context.newPage(), site, pictures);
  }

  constructor(context, page, site, pictures) {
    Object.assign(this, { context, page, site, pictures });
    this.failures = [];
    page.on("pageerror", (error) => this.failures.push(String(error)));
  }

  /** Goes to a path of the site, or a URL; what the page shows, with all statuses on the way. */
  async visit(to) {
    const response = await this.page.goto(to.startsWith("/") ? this.site + to : to, { waitUntil: "load" });
    return this.seen(response);
  }

  async seen(response) {
    const statuses = [];
    for (let request = response?.request(); request; request = request.redirectedFrom()) {
      statuses.unshift((await request.response())?.status());
    }
    const shown = await this.page.evaluate(() => {
      const links = (selector) =>
        [...document.querySelectorAll(selector)].map((link) => ({
          text: link.textContent.trim(),
          href: link.href,
          hreflang: link.getAttribute("hreflang"),
        }));
      return {
        language: document.documentElement.lang,
        type: document.querySelector("main")?.dataset.type ?? null,
        heading: document.querySelector("h1")?.textContent.trim() ?? null,
        note: document.querySelector("[role=status]")?.textContent.trim() ?? null,
        breadcrumbs: links("nav[aria-label=Breadcrumbs] a"),
        languages: links("nav[aria-label=Languages] a"),
        list: links("main ul[data-list] a"),
      };
    });
    return { url: this.page.url(), statuses, ...shown };
  }

  /** Clicks a link, and waits for the page behind it. */
  async follow(selector) {
    const href = await this.page.locator(selector).first().getAttribute("href");
    await this.page.locator(selector).first().click();
    await this.page.waitForURL(new URL(href, this.page.url()).href);
    return href;
  }

  async picture(name) {
    mkdirSync(this.pictures, { recursive: true });
    await this.page.screenshot({ path: join(this.pictures, `${name}.png`), fullPage: false });
  }

  close() {
    return this.context.close();
  }
}

/** It ends with this process; signals are handled elsewhere. */
export const launch = () =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox"],
    handleSIGINT: false,
    handleSIGTERM: false,
  });
