import { entryUrl, openAdmin } from './browser.mjs';
import { until } from './checks.mjs';

const ARTICLE = 'api::article.article';
const WORDS = {
  html: 'The address does not lead to frontend-map.',
  redirect: 'The address redirects.',
  closed: 'frontend-map cannot be reached at present.',
  silent: 'frontend-map did not respond in time.',
};

export const failures = async ({ api, admin, browser, strapi, seen, check, proxy }) => {
  const [article] = await api.rows(admin.token, ARTICLE, { pageSize: 1, locale: 'en', status: 'published' });
  const { page } = await openAdmin(browser, strapi, admin, { seen });
  for (const [failure, words] of Object.entries(WORDS)) {
    // A breaker that is open after the failure before closes with the first response.
    proxy.failure = null;
    await until(async () => {
      const { body } = await api.call('POST', '/frontend-map/settings/test', { token: admin.token });
      return body.address === null;
    });
    proxy.failure = failure;
    await page.goto(`${strapi}/admin/settings/frontend-map`);
    await page.getByRole('button', { name: 'Test connection' }).click();
    await page.locator('[data-frontend-map=test] li').first().waitFor();
    const text = await page.locator('[data-frontend-map=test]').innerText();
    check(`settings test: ${failure}`, text.includes(words), text);
  }
  // The service is silent, and the form works all the same.
  const began = Date.now();
  await page.goto(entryUrl(strapi, ARTICLE, article.documentId, 'en'));
  await page.locator('input[name=slug]').waitFor();
  console.log(`edit view with a silent service: ${Date.now() - began} ms until the form`);
  const named = page.getByText(/frontend-map (did not respond|cannot be reached)/).first();
  check(
    'edit view: the panel names the failure',
    await named.waitFor().then(
      () => true,
      () => false,
    ),
  );
  proxy.failure = null;
  await page.context().close();
};
