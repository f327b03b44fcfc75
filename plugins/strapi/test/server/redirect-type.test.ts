import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Core } from '@strapi/strapi';
import { redirectTypeOf } from '../../server/src/content/redirect-type';
import { sitesOf } from '../../server/src/operations/sites';

const attributes = {
  from: { type: 'string' },
  to: { type: 'text' },
  target: { type: 'relation' },
  seo: { type: 'component' },
};
const model = { kind: 'collectionType', attributes };
const localized = { ...model, pluginOptions: { i18n: { localized: true } } };

/** A Strapi with one content type, of which the admin may set these fields in a new entry. */
const typeOf = (fields: { from: string; to: string | null }, own: object, mayCreate = ['from', 'to']) => {
  const can = { create: (_entity: unknown, field: string) => mayCreate.includes(field) };
  const checker = { create: () => ({ can }) };
  const strapi = { contentTypes: { 'api::r.r': own }, plugin: () => ({ service: () => checker }) };
  return redirectTypeOf(strapi as unknown as Core.Strapi, {}, { uid: 'api::r.r', ...fields });
};

test('redirects: the type has the fields that the admin may set', () => {
  const fields = { from: 'from', to: 'to' };
  const type = { uid: 'api::r.r', ...fields, isLocalized: false };
  assert.deepEqual(typeOf(fields, model), type);
  assert.deepEqual(typeOf(fields, localized), { ...type, isLocalized: true });
  assert.deepEqual(typeOf(fields, model, ['from']), { ...type, to: null });
  assert.deepEqual(typeOf({ ...fields, to: null }, model), { ...type, to: null });
});

test('redirects: no type without a permission to create, a form of its own, or a text in the form', () => {
  const fields = { from: 'from', to: 'to' };
  assert.equal(typeOf(fields, model, []), null);
  assert.equal(typeOf(fields, model, ['to']), null);
  assert.equal(typeOf(fields, { ...model, kind: 'singleType' }), null);
  for (const from of ['seo.from', 'target', 'other']) {
    assert.equal(typeOf({ ...fields, from }, model, [from, 'to']), null, from);
  }
  const strapi = { contentTypes: {} } as unknown as Core.Strapi;
  assert.equal(redirectTypeOf(strapi, {}, { uid: 'api::r.r', ...fields }), null);
});

test('redirects: the content types of a site, none of an older service', () => {
  const sites = [
    {
      key: 'main',
      contentTypes: [],
      redirects: [
        { contentType: 'api::r.r', from: 'from', to: 'to', document: 'target' },
        { contentType: 'api::s.s', from: 'old', document: 'target' },
      ],
    },
    { key: 'old', contentTypes: [] },
  ];
  const found = sitesOf({ status: 200, data: { sites }, details: {} });
  assert.deepEqual(
    found.map(({ redirects }) => redirects),
    [
      [
        { uid: 'api::r.r', from: 'from', to: 'to' },
        { uid: 'api::s.s', from: 'old', to: null },
      ],
      [],
    ],
  );
});
