import type { Core } from '@strapi/strapi';

const NAME = 'frontend-map';

/** The events that change what is public. */
const EVENTS = ['entry.create', 'entry.update', 'entry.delete', 'entry.publish', 'entry.unpublish'];

interface Saved {
  id: string;
  name: string;
}

/** Requests in this process, one after the other. */
let saving: Promise<unknown> = Promise.resolve();

/**
 * Creates the webhook for the service, or updates the one of this name. Strapi's own page refuses
 * private addresses; the webhook store does not.
 */
export const saveWebhook = (strapi: Core.Strapi, address: string, secret: string): Promise<void> => {
  const saved = saving.then(() => save(strapi, address, secret));
  saving = saved.catch(() => undefined);
  return saved;
};

const save = async (strapi: Core.Strapi, address: string, secret: string): Promise<void> => {
  const store = strapi.get('webhookStore');
  const runner = strapi.get('webhookRunner');
  const webhook = {
    name: NAME,
    url: `${address}/hooks/cms`,
    headers: { Authorization: `Bearer ${secret}` },
    events: EVENTS,
    isEnabled: true,
  };
  const ours = async (): Promise<Saved[]> =>
    (await store.findWebhooks())
      .filter(({ name }: Saved) => name === NAME)
      .sort((one: Saved, other: Saved) => Number(one.id) - Number(other.id));
  const [known] = await ours();
  if (known) runner.update(await store.updateWebhook(known.id, { ...webhook, id: known.id }));
  else runner.update(await store.createWebhook(webhook));
  // Another instance of Strapi may have created one meanwhile: the first one stays, on both.
  const [, ...others] = await ours();
  for (const other of others) {
    await store.deleteWebhook(other.id);
    runner.remove(other);
  }
};
