'use strict';

// Reports each change of content to frontend-map. The admin panel refuses private addresses.
module.exports = async (strapi) => {
  const url = process.env.FRONTEND_MAP_HOOK; // http://frontend-map:8080/hooks/cms
  const secret = process.env.FRONTEND_MAP_HOOK_SECRET; // the service's hooks.secret
  if (!url || !secret) return;

  const store = strapi.get('webhookStore');
  const webhook = {
    name: 'frontend-map',
    url,
    headers: { Authorization: `Bearer ${secret}` },
    events: ['entry.create', 'entry.update', 'entry.delete', 'entry.publish', 'entry.unpublish'],
    isEnabled: true,
  };
  // Saved once, and updated when a variable has changed.
  const saved = (await store.findWebhooks()).find(({ name }) => name === webhook.name);
  const current = saved ? await store.updateWebhook(saved.id, webhook) : await store.createWebhook(webhook);
  strapi.get('webhookRunner').update(current);
};
