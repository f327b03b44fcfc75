/** The checks of an example, in the order in which they run. */
import assert from "node:assert/strict";
import { sendReset } from "./webhook.js";
import { mapAtOnce, timed, until } from "./process.js";

const ARTICLE = "api::article.article";
const LIST = "/en/articles";
const LISTED = 50;
/** Until a change is seen, from when the service knows it: the examples keep pages for a minute without a webhook. */
const CHANGE_MS = 5_000;

/** Name → `(context) => Promise`: throws where the example is wrong. `context` is that of drive.js. */
export const CHECKS = {
  async home({ visitor, example }) {
    const home = await visitor.visit("/en");
    assert.deepEqual([home.statuses, home.type, home.language], [[200], "home", "en"]);
    await visitor.picture("home");
    const root = await visitor.visit("/");
    assert.equal(root.url, `${example.url}/en`);
  },

  /** A page of each content type, and each page outside the CMS, with its breadcrumbs. */
  async types({ visitor, service, pages }) {
    for (const [type, { path }] of Object.entries(pages)) {
      const [page, known] = [await visitor.visit(path), await service.resolve(path)];
      assert.deepEqual([page.statuses, page.type], [[200], type], path);
      assert.ok(page.heading, path);
      const crumbs = page.breadcrumbs.map(({ href }) => href);
      assert.deepEqual(crumbs, known.breadcrumbs.map(({ url }) => new URL(url).href), path);
      await visitor.picture(type.replace(/.*[.]/, ""));
    }
  },

  /** Language, title, description, Open Graph, canonical URL and hreflang, in the source as a crawler reads it. */
  async head({ example, service, pages }) {
    for (const { path } of Object.values(pages)) await checkHead(example, service, path);
  },

  /** The same of all public pages, those with reserved characters and other scripts included. */
  async all({ example, service, all }) {
    await mapAtOnce(all, ({ path }) => checkHead(example, service, path));
    return `${all.length} pages`;
  },

  /** Files and routes that the site has itself; `drive.own` has the text of each. */
  async own({ example }) {
    for (const [path, part] of Object.entries(example.own)) {
      const { status, text } = await timed(example.url + path);
      assert.equal(status, 200, path);
      assert.ok(text.includes(part), `${path}: ${text}`);
    }
  },

  async languages({ visitor, service, pages }) {
    const { path } = pages[ARTICLE];
    const german = (await service.resolve(path)).alternates.de;
    await visitor.visit(path);
    await visitor.follow('nav[aria-label=Languages] a[hreflang="de"]');
    assert.equal(visitor.page.url(), new URL(german).href);
    await visitor.page.locator("html[lang=de]").waitFor({ state: "attached" });
  },

  /** A list of 50 links is one request to the service; each link leads to its document. */
  async links({ visitor, example, proxy, service }) {
    // Frameworks fetch pages behind links in advance: those of the last page are not counted.
    await visitor.page.waitForLoadState("networkidle");
    await visitor.page.goto("about:blank");
    if (example.webhook) await sendReset(example.url + example.webhook);
    const batches = (counts) => Object.entries(counts).filter(([route]) => route.endsWith("/api/frontend-urls"));
    const counts = await proxy.counted(async () => {
      await visitor.visit(LIST);
      // A site that keeps a page while it makes the new one sends its requests after the visit.
      await until("batch", async () => batches(proxy.counts), (sent) => sent.length > 0);
      await visitor.page.waitForLoadState("networkidle");
    });
    const { list } = await visitor.seen();
    assert.ok(list.length >= LISTED, `${list.length} links`);
    assert.deepEqual(batches(counts).map(([, count]) => count), [1], JSON.stringify(counts));
    for (const { href } of list) {
      assert.ok(href.startsWith(`${example.url}/`), href);
      const pathname = href.slice(example.url.length);
      assert.equal((await service.resolve(pathname)).kind, "document", pathname);
    }
    return `${list.length} links; requests: ${JSON.stringify(counts)}`;
  },

  async missing({ visitor, example }) {
    for (const path of ["/en/no-such-page", "/en/articles/no-such-article", "/no/such/rule/at-all"]) {
      assert.equal((await fetch(example.url + path)).status, 404, path);
    }
    const page = await visitor.visit("/en/no-such-page");
    assert.deepEqual([page.statuses, page.type], [[404], null]);
    assert.ok(page.heading);
    await visitor.picture("missing");
  },

  async sitemap({ example, service }) {
    for (const [path, own] of [["/sitemap.xml", "sitemap.xml"], ["/robots.txt", "robots.txt"]]) {
      const passed = await fetch(example.url + path);
      assert.equal(passed.status, 200, path);
      const direct = await (await fetch(`${service.url}/sitemaps/main/${own}`)).text();
      // A site may have a robots.txt of its own, with the line of the service.
      const text = await passed.text();
      assert.ok(path === "/robots.txt" ? text.includes(direct.trim()) : text === direct, `${path}: ${text}`);
      if (text !== direct) continue;
      const etag = passed.headers.get("etag");
      if (!etag) continue;
      const again = await fetch(example.url + path, { headers: { "if-none-match": etag } });
      assert.equal(again.status, 304, path);
    }
    const index = await (await fetch(`${example.url}/sitemap.xml`)).text();
    const [, file] = /<loc>([^<]+)<\/loc>/.exec(index);
    assert.equal((await fetch(file)).status, 200, file);
  },

  /** A renamed document: its old path is a real 308, the query stays, lists have the new link. */
  async redirect({ visitor, example, strapi, service, articles, state }) {
    const { documentId, path, params } = articles[0];
    const slug = `renamed-for-${example.name}`;
    await visitor.visit(path);
    // Rendered now, so that it is not the minute that renders it again.
    for (let visit = 0; visit < 2; visit += 1) await visitor.visit(LIST);
    await strapi.publish(ARTICLE, documentId, "en", { slug });
    const moved = await until("redirect", () => service.resolve(path), ({ kind }) => kind === "redirect");
    const page = await until("308", () => visitor.visit(`${path}?a=b`), ({ statuses }) => statuses.length > 1, CHANGE_MS);
    assert.deepEqual(page.statuses, [308, 200]);
    assert.equal(page.url, `${moved.redirect.to}?a=b`);
    assert.ok(moved.redirect.to.endsWith(slug), params.slug);
    assert.equal(page.type, ARTICLE);
    const linked = ({ list }) => list.some(({ href }) => href === moved.redirect.to);
    await until("new link in the list", () => visitor.visit(LIST), linked, CHANGE_MS);
    state.moved = { from: path, to: moved.redirect.to };
  },

  /** The preview that Strapi's panel opens, and its end. */
  async drafts({ visitor, otherVisitor, example, strapi, drafts }) {
    const { documentId, path } = drafts[0];
    assert.equal((await fetch(example.url + path)).status, 404);
    const link = await strapi.preview(ARTICLE, documentId, "en");
    assert.ok(link.startsWith(`${example.url}/api/preview?`), link);

    const draft = await visitor.visit(link);
    assert.deepEqual([draft.statuses.at(-1), draft.type, draft.url], [200, ARTICLE, example.url + path]);
    assert.ok(draft.note);
    await visitor.picture("draft");
    assert.deepEqual((await otherVisitor.visit(path)).statuses, [404]);

    await visitor.page.locator("[role=status] button, [role=status] a").first().click();
    await visitor.page.waitForURL((url) => !url.pathname.includes("/api/"));
    assert.deepEqual((await visitor.visit(path)).statuses, [404]);

    for (const [name, value, status] of [["secret", "wrong", 401], ["path", "//example.org", 400], ["path", "/\t/example.org", 400], ["path", "https://example.org", 400]]) {
      const bad = new URL(link);
      bad.searchParams.set(name, value);
      assert.equal((await fetch(bad, { redirect: "manual" })).status, status, `${name}=${value}`);
    }
  },

  /** The service is stopped: pages stay, redirects stay, nothing becomes a 404. */
  async outage({ visitor, example, service, pages, articles, state }) {
    const known = Object.values(pages).map(({ path }) => path);
    const before = [];
    for (const path of known) before.push((await visitor.visit(path)).heading);
    await service.pause();
    for (const [at, path] of known.entries()) {
      const page = await visitor.visit(path);
      assert.deepEqual([page.statuses, page.heading], [[200], before[at]], path);
    }
    await visitor.picture("outage");
    if (state.moved) {
      const { status, headers } = await fetch(example.url + state.moved.from, { redirect: "manual" });
      assert.deepEqual([status, new URL(headers.get("location"), example.url).href], [308, state.moved.to]);
    }
    const { status } = await fetch(`${example.url}/en/never-requested-before`);
    assert.ok(status >= 500, `an unknown path while the service is down: ${status}`);
    assert.ok((await fetch(`${example.url}/sitemap.xml`)).status >= 500);
    await service.resume();
    const path = articles[1].path;
    await until("pages after the outage", () => visitor.visit(path), ({ statuses }) => statuses.at(-1) === 200);
    await until("404 after the outage", () => fetch(`${example.url}/en/never-requested-before`), (one) => one.status === 404);
  },

  /** The service hangs after all pages have become stale: pages stay and respond in time, nothing becomes a 404. */
  async hung({ example, service, pages }) {
    const known = Object.values(pages).map(({ path }) => path);
    for (const path of known) assert.equal((await timed(example.url + path)).status, 200, path);
    if (example.webhook) await sendReset(example.url + example.webhook);
    service.freeze();
    let slowest = 0;
    try {
      // Twice: what is stale is rendered again after the first visit.
      for (const path of [...known, ...known, "/en/never-requested-again"]) {
        const { status, ms } = await timed(example.url + path);
        slowest = Math.max(slowest, ms);
        assert.ok(path.includes("never") ? status >= 500 : status === 200, `${path}: ${status}`);
        assert.ok(ms < HUNG_MS, `${path}: ${ms} ms`);
      }
    } finally {
      service.thaw();
    }
    await until("404 afterwards", () => fetch(`${example.url}/en/never-requested-again`), (one) => one.status === 404);
    return `slowest: ${slowest.toFixed(0)} ms`;
  },
};

/** How long a page may take while the service hangs; the clients of the examples wait for 2 s. Milliseconds. */
const HUNG_MS = 3_000;

/** Status, language, title, description, Open Graph, canonical URL and hreflang of a page. */
export async function checkHead(example, service, path) {
  const { status, text } = await timed(example.url + path);
  assert.equal(status, 200, path);
  const { canonicalUrl, alternates, locale } = await service.resolve(path);
  const [heading, title] = ["h1", "title"].map((name) => plain(new RegExp(`<${name}\\b[^>]*>(.*?)</${name}>`, "s").exec(text)?.[1] ?? ""));
  assert.ok(heading, path);
  assert.equal(title, `${heading} · Example`, path);
  assert.equal(attributes(/<html\b[^>]*>/.exec(text)[0]).lang, locale, path);
  const canonical = linksOf(text).filter(({ rel }) => rel === "canonical").map(({ href }) => href);
  assert.deepEqual(canonical, [canonicalUrl], path);
  const [, main] = /<main\b[^>]*>(.*)<\/main>/s.exec(text);
  const [, paragraph = ""] = /<p\b[^>]*>(.*?)<\/p>/s.exec(main) ?? [];
  const { description = "", "og:title": shared, "og:locale": code, "og:url": url } = metadataOf(text);
  assert.deepEqual([description.trim(), shared, code, url], [plain(paragraph), heading, locale, canonicalUrl], path);
  const found = linksOf(text).filter(({ rel, hreflang }) => rel === "alternate" && hreflang);
  assert.deepEqual(Object.fromEntries(found.map(({ hreflang, href }) => [hreflang, href])), alternates, path);
}

const linksOf = (html) => [...html.matchAll(/<link\b[^>]*>/gi)].map(([tag]) => attributes(tag));

/** Name or property of each `<meta>` → its content. */
function metadataOf(html) {
  const all = [...html.matchAll(/<meta\b[^>]*>/gi)].map(([tag]) => attributes(tag));
  return Object.fromEntries(all.map(({ name, property = name, content }) => [property, content]));
}

/** HTML as text. */
const plain = (html) => withoutEntities(html.replace(/<[^>]*>/g, "")).trim();

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'", "#39": "'" };
const withoutEntities = (text) => text.replace(/&([^;]+);/g, (whole, name) => ENTITIES[name] ?? whole);

/** The attributes of a tag. */
function attributes(tag) {
  const found = [...tag.matchAll(/([\w-]+)="([^"]*)"/g)];
  return Object.fromEntries(found.map(([, name, value]) => [name.toLowerCase(), withoutEntities(value)]));
}
