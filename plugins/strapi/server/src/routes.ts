import { ACTIONS, type Action } from './permissions';

/** Each route needs a login and one action of the plugin; controllers check the documents. */
const route = (method: string, path: string, handler: string, action: Action) => ({
  method,
  path,
  handler,
  config: {
    policies: [
      'admin::isAuthenticatedAdmin',
      { name: 'admin::hasPermissions', config: { actions: [action] } },
    ],
  },
});

export const ADMIN_ROUTES = [
  route('GET', '/document', 'urls.document', ACTIONS.readUrl),
];

export default { admin: { type: 'admin', routes: ADMIN_ROUTES } };
