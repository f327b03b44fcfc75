import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REGISTERED } from '../../server/src/permissions';
import { ADMIN_ROUTES } from '../../server/src/routes';

test('routes: each needs a login and one action that is registered', () => {
  const registered = REGISTERED.map(({ pluginName, uid }) => `plugin::${pluginName}.${uid}`);
  for (const { path, config } of ADMIN_ROUTES) {
    const [login, permission] = config.policies;
    assert.equal(login, 'admin::isAuthenticatedAdmin', path);
    assert.ok(typeof permission === 'object', path);
    assert.equal(permission.name, 'admin::hasPermissions', path);
    assert.ok(registered.includes(permission.config.actions[0] ?? ''), path);
  }
});

test('routes: settings need the permission to manage them', () => {
  const settings = ADMIN_ROUTES.filter(({ path }) => path.startsWith('/settings'));
  assert.equal(settings.length, 4);
  for (const { config } of settings) {
    const [, permission] = config.policies;
    assert.ok(typeof permission === 'object');
    assert.equal(permission.config.actions[0], 'plugin::frontend-map.manage-settings');
  }
});

test("routes: the webhook needs what Strapi's own pages of webhooks need, which show the secret", () => {
  const others = ADMIN_ROUTES.flatMap(({ path, config }) =>
    config.policies.flatMap((policy) =>
      typeof policy === 'object' ? policy.config.actions.slice(1).map((action) => `${path} ${action}`) : [],
    ),
  );
  assert.deepEqual(
    others,
    ['create', 'read', 'update'].map((name) => `/settings/webhook admin::webhooks.${name}`),
  );
});
