import assert from 'node:assert/strict';
import { test } from 'node:test';
import reports from '../../server/src/controllers/reports';
import urls from '../../server/src/controllers/urls';
import { documentLinksOf, linksOf, linksWith } from '../../server/src/operations/links';
import { versionKey, type MayRead, type Row } from '../../server/src/operations/reports';
import type { ServiceResponse } from '../../server/src/service/client';
import { data, error, startPeer } from './peer';
import { request, strapiWith } from './strapi';

const UID = 'api::a.a';
const typeOf = (uid: string) => ({ typeName: `name of ${uid}`, isSingle: false });
const mayRead: MayRead = async (uid) => (uid === UID ? new Set([versionKey('a', 'en')]) : 'none');

const responseOf = (links: Row[]): ServiceResponse => ({ status: 200, data: { links }, details: {} });

const link = (contentType: string, documentId: string, more: Row = {}): Row => ({
  ...{ contentType, documentId, locale: 'en', field: 'body', text: 'Text' },
  ...{ address: '/en/caf%C3%A9', verdict: 'gone', to: null, ...more },
});

test('links: those of entries that the admin may not read, and with unknown verdicts, are left out', async () => {
  const rows = [link(UID, 'a'), link(UID, 'b'), link('closed', 'a'), link(UID, 'a', { verdict: 'later' })];
  const found = await linksOf(responseOf(rows), mayRead, typeOf);
  assert.deepEqual(found, [
    {
      ...{ contentType: UID, documentId: 'a', locale: 'en', typeName: `name of ${UID}`, isSingle: false },
      ...{ field: 'body', text: 'Text', address: '/en/caf%C3%A9', verdict: 'gone', to: null },
    },
  ]);
  assert.deepEqual(linksWith(found, 'CAFÉ'), found);
  assert.deepEqual(linksWith(found, 'text'), found);
  assert.deepEqual(linksWith(found, 'tea'), []);
});

test('links: the panel has those of the open locale, and the entries that link to it', async () => {
  const own = responseOf([
    link(UID, 'a', { verdict: 'ok' }),
    link(UID, 'a', { verdict: 'moved', to: '/en/x' }),
    link(UID, 'a'),
    link(UID, 'a', { locale: 'de' }),
  ]);
  const everyone: MayRead = async (uid) => (uid === UID ? 'all' : 'none');
  const incoming = responseOf([link(UID, 'a'), link(UID, 'b'), link(UID, 'b'), link('closed', 'c')]);
  const found = await documentLinksOf(own, incoming, { documentId: 'a', locale: 'en' }, everyone, typeOf);
  assert.deepEqual(
    found?.links.map(({ verdict }) => verdict),
    ['gone', 'moved'],
  );
  assert.deepEqual([found?.broken, found?.entries.count, found?.entries.more], [1, 1, true]);
  assert.deepEqual(
    found?.entries.first.map(({ documentId }) => documentId),
    ['b'],
  );
});

test('links: the tab asks for the verdicts of a kind, and a service without such fields has none', async () => {
  const peer = await startPeer((_asked, response) => data(response, { links: [link(UID, 'a')] }));
  const strapi = strapiWith({ url: peer.address, validateToken: 't' }, { site: 'main' }, { [UID]: [] });
  const { links } = reports({ strapi });
  await links(request({ site: 'main' }));
  await links(request({ site: 'main', kind: 'moved' }));
  await assert.rejects(links(request({ site: 'main', kind: 'dead' })), /`kind`/);
  await assert.rejects(links(request({ site: 'another' })), { status: 404 });
  peer.stop();
  assert.deepEqual(
    peer.asked.map(({ line, authorization }) => [line, authorization]),
    [
      ['GET /api/links?site=main&verdict=gone%2Cno_such_page', 'Bearer t'],
      ['GET /api/links?site=main&verdict=moved', 'Bearer t'],
    ],
  );
});

test('links: without [[site.links]] there is no tab content and no panel section', async () => {
  const peer = await startPeer((_asked, response) => error(response, 501));
  const row = { documentId: 'd', locale: 'en', updatedAt: '2026-01-01' };
  const strapi = strapiWith({ url: peer.address }, { site: 'main' }, { [UID]: [row] });
  const [tab, panel] = [request({ site: 'main' }), request({ uid: UID, documentId: 'd', path: '/en/d' })];
  await reports({ strapi }).links(tab);
  await urls({ strapi }).links(panel);
  await urls({ strapi }).links(panel);
  peer.stop();
  assert.deepEqual([tab.body, panel.body], [{ report: null }, { report: null }]);
  const ofPanel = peer.asked.slice(1).map(({ line }) => line);
  assert.deepEqual(ofPanel, ['GET /api/links?site=main&documentId=d'], 'asked once a minute');
});
