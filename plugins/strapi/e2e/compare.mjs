#!/usr/bin/env node
// Milliseconds until the form of an edit view can be used, in two Strapis with the same content: WITH
// and WITHOUT (addresses), one with the plugin. ROUNDS times in turn, by loading the page and by a
// link of the admin panel; prints the medians, and all values.
import { entryUrl, launch, listUrl, openAdmin, visit } from './browser.mjs';
import { ARTICLE, createApi } from './strapi.mjs';

const { WITH, WITHOUT, ROUNDS = '7' } = process.env;
const browser = await launch();
const sides = [];
for (const [name, strapi] of Object.entries({ with: WITH, without: WITHOUT })) {
  const api = createApi(strapi, []);
  const admin = await api.superAdmin();
  const query = { pageSize: 100, locale: 'en', sort: 'title:asc', _q: 'article' };
  const rows = await api.rows(admin.token, ARTICLE, query);
  const { documentId } = rows.find(({ status, slug }) => status === 'published' && slug);
  const { page } = await openAdmin(browser, strapi, admin);
  const entry = entryUrl(strapi, ARTICLE, documentId, 'en');
  sides.push({ name, strapi, page, entry, load: [], link: [] });
}
const until = async (page, action) => {
  const began = performance.now();
  await action();
  await page.locator('input[name=slug]').waitFor();
  return Math.round(performance.now() - began);
};
for (let round = 0; round <= Number(ROUNDS); round += 1) {
  // First one, then the other.
  for (const side of round % 2 ? sides : [...sides].reverse()) {
    const { page, strapi, entry } = side;
    const load = await until(page, () => page.goto(entry, { waitUntil: 'commit' }));
    await visit(page, listUrl(strapi, ARTICLE, 'en', 'pageSize=10'));
    await page.locator('tbody tr').first().waitFor();
    const link = await until(page, () => visit(page, entry));
    // The first round fills the caches.
    if (!round) continue;
    side.load.push(load);
    side.link.push(link);
  }
}
const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
for (const { name, load, link } of sides) {
  console.log(`${name}: page load ${median(load)} ms (${load}), link ${median(link)} ms (${link})`);
}
await browser.close();
