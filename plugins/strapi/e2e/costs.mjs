// What a page of the admin panel costs: its requests to the server of the plugin, and what they transfer.
import { violations } from './browser.mjs';

const OWN = '/frontend-map/';

// Loads each page, and prints a table. `pages` are names, addresses and selectors.
export const costsOf = async ({ equal, proxy, reset }, page, pages) => {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  const own = new Map();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const path = new URL(request.url).pathname;
    if (path.startsWith(OWN)) own.set(requestId, { path, bytes: 0 });
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (own.has(requestId)) own.get(requestId).bytes = encodedDataLength;
  });
  const costs = [];
  for (const [name, url, selector] of pages) {
    // Nothing is cached at the plugin's server.
    await reset();
    own.clear();
    proxy.asked.length = 0;
    await page.goto(url);
    await page.locator(selector).first().waitFor();
    await page.waitForLoadState('networkidle');
    const sent = [...own.values()];
    const bytes = sent.reduce((sum, one) => sum + one.bytes, 0);
    costs.push({ name, requests: sent.length, bytes, paths: sent.map(({ path }) => path.slice(OWN.length)) });
    costs.at(-1).toService = proxy.asked.length;
    equal(`axe: ${name}`, await violations(page, selector), []);
  }
  await session.detach();
  console.log('page | requests to the plugin | bytes | requests to frontend-map');
  for (const { name, requests, bytes, paths, toService } of costs) {
    console.log(`${name} | ${requests} (${paths.join(', ')}) | ${bytes} | ${toService}`);
  }
  return costs;
};
