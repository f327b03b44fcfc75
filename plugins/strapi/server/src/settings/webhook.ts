import type { Core } from '@strapi/strapi';

const NAME = 'frontend-map';

/** The events that change what is public. */
const EVENTS = ['entry.create', 'entry.update', 'entry.delete', 'entry.publish', 'entry.unpublish'];

interface Saved {
  id: string;
  name: string;
}

/**
 * Creates the webhook for the service, or updates the one of this name. Strapi's own page refuses
 * private addresses; the webhook store does not.
 */
export const saveWebhook = async (strapi: Core.Strapi, address: string, secret: string): Promise<void> => {
  const store = strapi.get('webhookStore');
  const webhook = {
    name: NAME,
    url: `${address}/hooks/cms`,
    headers: { Authorization: `Bearer ${secret}` },
    events: EVENTS,
    isEnabled: true,
  };
  const saved = (await store.findWebhooks()).find(({ name }: Saved) => name === NAME);
  const current = saved
    ? await store.updateWebhook(saved.id, { ...webhook, id: saved.id })
    : await store.createWebhook(webhook);
  strapi.get('webhookRunner').update(current);
};
