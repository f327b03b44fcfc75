// The admin panel in headless Chromium.
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

// A logged-in page; `seen` gets the text of each response.
export const openAdmin = async (
  browser,
  strapi,
  user,
  { seen = [], theme = 'light', width = 1280, language, bypassCSP = false } = {},
) => {
  const context = await browser.newContext({ viewport: { width, height: 900 }, bypassCSP });
  await context.addInitScript(
    ([theme, language]) => {
      localStorage.setItem('STRAPI_THEME', theme);
      if (language) localStorage.setItem('strapi-admin-language', language);
      localStorage.setItem('STRAPI_GUIDED_TOUR', JSON.stringify({ enabled: false }));
    },
    [theme, language],
  );
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const errors = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('response', async (response) => {
    if (!response.url().startsWith(strapi) || response.url().includes('/admin/assets')) return;
    const body = await response.text().catch(() => '');
    seen.push({
      url: response.url(),
      text: JSON.stringify(response.headers()) + body,
      status: response.status(),
    });
  });
  await page.goto(`${strapi}/admin`);
  await page.fill('input[name=email]', user.email);
  await page.fill('input[name=password]', user.password);
  await page.click('button[type=submit]');
  await page.waitForURL((url) => !url.pathname.includes('/auth/'));
  return { page, context, errors };
};

export const entryUrl = (strapi, uid, documentId, locale) =>
  `${strapi}/admin/content-manager/collection-types/${uid}/${documentId}${locale ? `?plugins[i18n][locale]=${locale}` : ''}`;

const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];

// The violations of one part of the page.
export const violations = async (page, selector) => {
  await page.addScriptTag({ path: AXE });
  const found = await page.evaluate(
    ([selector, rules]) => window.axe.run(selector, { runOnly: { type: 'tag', values: rules } }),
    [selector, RULES],
  );
  return found.violations.map(({ id, nodes }) => ({
    id,
    nodes: nodes.map(({ html }) => html.slice(0, 200)),
  }));
};
