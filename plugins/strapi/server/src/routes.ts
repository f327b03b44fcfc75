import { ACTIONS, type Action } from './permissions';

/** Each route needs a login and an action of the plugin; controllers check the documents. */
const route = (method: string, path: string, handler: string, action: Action, others: string[] = []) => ({
  method,
  path,
  handler,
  config: {
    policies: [
      'admin::isAuthenticatedAdmin',
      { name: 'admin::hasPermissions', config: { actions: [action, ...others] } },
    ],
  },
});

/** Those of Strapi's own pages of webhooks, where the address and the secret can be read. */
const WEBHOOKS = ['admin::webhooks.create', 'admin::webhooks.read', 'admin::webhooks.update'];

export const ADMIN_ROUTES = [
  route('GET', '/document', 'urls.document', ACTIONS.readUrl),
  route('GET', '/document-links', 'urls.links', ACTIONS.readUrl),
  route('POST', '/rows', 'urls.rows', ACTIONS.readUrl),
  route('GET', '/parts', 'settings.parts', ACTIONS.readUrl),
  route('GET', '/overview', 'reports.overview', ACTIONS.readReport),
  route('GET', '/findings', 'reports.findings', ACTIONS.readReport),
  route('GET', '/checks', 'reports.checks', ACTIONS.readReport),
  route('GET', '/moves', 'reports.moves', ACTIONS.readReport),
  route('GET', '/misses', 'reports.misses', ACTIONS.readReport),
  route('GET', '/links', 'reports.links', ACTIONS.readReport),
  route('DELETE', '/misses', 'reports.clearMisses', ACTIONS.clearMisses),
  route('GET', '/sites', 'reports.sites', ACTIONS.readReport),
  route('GET', '/check', 'reports.check', ACTIONS.runCheck),
  route('POST', '/check', 'reports.start', ACTIONS.runCheck),
  route('GET', '/settings', 'settings.find', ACTIONS.manageSettings),
  route('PUT', '/settings', 'settings.update', ACTIONS.manageSettings),
  route('POST', '/settings/test', 'settings.test', ACTIONS.manageSettings),
  route('POST', '/settings/webhook', 'settings.webhook', ACTIONS.manageSettings, WEBHOOKS),
];

export default { admin: { type: 'admin', routes: ADMIN_ROUTES } };
