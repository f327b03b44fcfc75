import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Core } from '@strapi/strapi';
import { saveWebhook } from '../../server/src/settings/webhook';

interface Webhook {
  id: number;
  name: string;
  url: string;
}

/** Webhooks of one database; each call of the store takes a turn of the event loop. */
const createStore = () => {
  const webhooks: Webhook[] = [];
  let last = 0;
  const turn = () => new Promise((done) => setImmediate(done));
  const store = {
    findWebhooks: async () => {
      const found = [...webhooks];
      await turn();
      return found;
    },
    createWebhook: async (webhook: Omit<Webhook, 'id'>) => {
      await turn();
      const created = { ...webhook, id: (last += 1) };
      webhooks.push(created);
      return created;
    },
    updateWebhook: async (id: number, webhook: Webhook) => {
      await turn();
      return Object.assign(webhooks.find((one) => one.id === id) ?? {}, webhook);
    },
    deleteWebhook: async (id: number) => {
      await turn();
      webhooks.splice(
        webhooks.findIndex((one) => one.id === id),
        1,
      );
    },
  };
  const runner = { update: () => undefined, remove: () => undefined };
  const strapi = {
    get: (name: string) => (name === 'webhookStore' ? store : runner),
  } as unknown as Core.Strapi;
  return { webhooks, store, strapi };
};

test('webhook: two admins who create it at once create one', async () => {
  const { webhooks, strapi } = createStore();
  await Promise.all(['http://a', 'http://b'].map((address) => saveWebhook(strapi, address, 's')));
  assert.deepEqual(
    webhooks.map(({ url }) => url),
    ['http://b/hooks/cms'],
  );
});

test('webhook: one that another instance has created meanwhile is the only one', async () => {
  const { webhooks, store, strapi } = createStore();
  const { createWebhook } = store;
  // The other instance looked for it at the same time, and was faster.
  store.createWebhook = async (webhook) => {
    await createWebhook({ ...webhook, url: 'http://other/hooks/cms' });
    return createWebhook(webhook);
  };
  await saveWebhook(strapi, 'http://a', 's');
  assert.deepEqual(
    webhooks.map(({ id }) => id),
    [1],
  );
});

test('webhook: a failure does not keep the next one from being saved', async () => {
  const { webhooks, store, strapi } = createStore();
  const { findWebhooks } = store;
  store.findWebhooks = () => Promise.reject(new Error('the database is away'));
  await assert.rejects(saveWebhook(strapi, 'http://a', 's'));
  store.findWebhooks = findWebhooks;
  await saveWebhook(strapi, 'http://a', 's');
  assert.equal(webhooks.length, 1);
});
