// The admin panel in headless Chromium.
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
export const PANEL = '[data-frontend-map=panel]';

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

// A logged-in page; `seen` gets the text of each response.
export const openAdmin = async (
  browser,
  strapi,
  user,
  { seen = [], theme = 'light', width = 1280, height = 900, language, bypassCSP = false } = {},
) => {
  const context = await browser.newContext({ viewport: { width, height }, bypassCSP });
  await context.addInitScript(
    ([theme, language]) => {
      // A tab that is still empty has no storage.
      if (window.origin === 'null') return;
      localStorage.setItem('STRAPI_THEME', theme);
      if (language) localStorage.setItem('strapi-admin-language', language);
      localStorage.setItem('STRAPI_GUIDED_TOUR', JSON.stringify({ enabled: false }));
    },
    [theme, language],
  );
  const errors = [];
  context.on('page', (page) => {
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('dialog', (dialog) => {
      errors.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  });
  context.on('response', async (response) => {
    if (!response.url().startsWith(strapi) || response.url().includes('/admin/assets')) return;
    const body = await response.text().catch(() => '');
    seen.push({ url: response.url(), text: JSON.stringify(response.headers()) + body, user: user.email });
  });
  const page = await context.newPage();
  await page.goto(`${strapi}/admin`);
  await page.fill('input[name=email]', user.email);
  await page.fill('input[name=password]', user.password);
  await page.click('button[type=submit]');
  await page.waitForURL((url) => !url.pathname.includes('/auth/'));
  return { page, context, errors };
};

export const listUrl = (strapi, uid, locale, query = '') =>
  `${strapi}/admin/content-manager/collection-types/${uid}?${locale ? `plugins[i18n][locale]=${locale}&` : ''}${query}`;

export const entryUrl = (strapi, uid, documentId, locale) =>
  `${strapi}/admin/content-manager/collection-types/${uid}/${documentId}${locale ? `?plugins[i18n][locale]=${locale}` : ''}`;

export const singleUrl = (strapi, uid, locale) =>
  `${strapi}/admin/content-manager/single-types/${uid}?plugins[i18n][locale]=${locale}`;

// Goes to another page as a link of the admin panel does, without loading the panel again.
export const visit = (page, url) =>
  page.evaluate((target) => {
    window.history.pushState({}, '', target);
    window.dispatchEvent(new PopStateEvent('popstate', { state: {} }));
  }, url);

export const textOf = async (page, selector = PANEL) =>
  (await page.locator(selector).first().innerText()).replace(/\s+/g, ' ');

// The text of the panel of another entry.
export const openEntry = async (page, url) => {
  const [uid, documentId] = new URL(url).pathname.split('/').slice(4);
  const wanted = documentId ? `documentId=${documentId}` : new URLSearchParams({ uid }).toString();
  const responded = page.waitForResponse(
    (response) => response.url().includes('/frontend-map/document?') && response.url().includes(wanted),
  );
  await visit(page, url);
  await responded;
  await page.waitForSelector(PANEL);
  return textOf(page);
};

export const appears = (locator) =>
  locator
    .first()
    .waitFor()
    .then(
      () => true,
      () => false,
    );

const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

// The violations of one part of the page; the page needs `bypassCSP`.
export const violations = async (page, selector) => {
  if (!(await page.evaluate(() => 'axe' in window))) await page.addScriptTag({ path: AXE });
  const found = await page.evaluate(
    ([selector, rules]) => window.axe.run(selector, { runOnly: { type: 'tag', values: rules } }),
    [selector, RULES],
  );
  return found.violations.map(({ id, nodes }) => ({
    id,
    nodes: nodes.map(({ html }) => html.slice(0, 200)),
  }));
};
