'use strict';

// Open Preview asks frontend-map for the URL of the document that the editor has open.
module.exports = (env) => {
  const service = env('FRONTEND_MAP_URL'); // http://frontend-map:8080
  const token = env('FRONTEND_MAP_DRAFT_TOKEN'); // the service's token for drafts, if it has one
  const secret = env('PREVIEW_SECRET'); // known to the frontend, too

  const handler = async (uid, { documentId, locale, status }) => {
    // Strapi does not check this: see "Permissions".
    const ability = strapi.requestContext.get()?.state.userAbility;
    if (!ability?.can('plugin::content-manager.explorer.read', uid)) return null;

    // The panel sends draft, published or modified (published, with unpublished changes).
    const version = status === 'published' ? 'published' : 'draft';
    const query = new URLSearchParams({ uid, documentId, status: version });
    if (locale) query.set('locale', locale); // null if the type is not localized
    const response = await fetch(`${service}/api/frontend-url?${query}`, {
      headers: token && version === 'draft' ? { Authorization: `Bearer ${token}` } : {},
      signal: AbortSignal.timeout(3000),
    });
    // 404: no rule for the type, no such version, no usable slug. 501: the site has no base URL.
    if (response.status === 404 || response.status === 501) return null;
    if (!response.ok) throw new Error(`frontend-map returned ${response.status}`);

    const { url, path } = (await response.json()).data;
    if (version === 'published') return url;
    const base = url.slice(0, -path.length);
    return `${base}/api/preview?${new URLSearchParams({ secret, path })}`;
  };

  return { enabled: true, config: { allowedOrigins: env.array('PREVIEW_ORIGINS'), handler } };
};
