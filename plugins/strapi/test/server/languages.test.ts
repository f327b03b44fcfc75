import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Core } from '@strapi/strapi';
import { labelsOf } from '../../server/src/content/labels';
import { readableLanguages } from '../../server/src/content/languages';

const reason = (name: string) => ({ reason: name, rule: null });
const link = (locale: string) => ({ url: `https://x/${locale}`, path: `/${locale}` });

/** A Strapi with versions by status; `locales` are those of the permission. */
const strapiOf = (versions: { draft: string[]; published: string[] }, locales: string[]) => {
  const ability = { rulesFor: () => [{ conditions: { $and: [{ locale: { $in: locales } }] } }] };
  const readable = (locale: string) => locales.includes(locale);
  const strapi = {
    contentTypes: { a: {} },
    plugin: () => ({
      service: () => ({
        create: () => ({ can: { read: () => true }, sanitizedQuery: { read: async () => ({}) } }),
      }),
    }),
    documents: () => ({
      findMany: async ({ status }: { status: 'draft' | 'published' }) =>
        versions[status].filter(readable).map((locale) => ({ documentId: 'd', locale })),
    }),
  } as unknown as Core.Strapi;
  return { strapi, ability };
};

test('languages: no URL and no reason of a locale that the role does not have', async () => {
  const versions = { draft: ['en', 'de', 'fr'], published: ['en', 'de'] };
  const languages = [
    { locale: 'en', address: link('en') },
    { locale: 'de', address: link('de') },
    { locale: 'fr', address: reason('no_version') },
    { locale: 'it', address: reason('no_version') },
  ];
  const found = async (locales: string[]) => {
    const { strapi, ability } = strapiOf(versions, locales);
    const shown = await readableLanguages(strapi, ability, { uid: 'a', documentId: 'd' }, languages);
    return shown.map(({ locale, address }) => `${locale} ${'url' in address ? address.url : address.reason}`);
  };
  assert.deepEqual(await found(['de']), ['de https://x/de']);
  assert.deepEqual(await found(['en', 'de', 'fr', 'it']), [
    'en https://x/en',
    'de https://x/de',
    'fr only_draft',
    'it no_translation',
  ]);
});

test('labels: the names of the fields in a reason, across relations', async () => {
  const attributes: Record<string, object> = {
    a: { meta: {}, meta_title: {}, slug: {}, category: { target: 'c' } },
    c: { slug: {} },
  };
  const labels: Record<string, Record<string, string>> = {
    a: { meta_title: 'Title for search engines', slug: 'Address', category: 'Rubric' },
    c: { slug: 'Short name' },
  };
  const strapi = {
    contentTypes: Object.fromEntries(
      Object.entries(attributes).map(([uid, own]) => [uid, { attributes: own }]),
    ),
    plugin: () => ({
      service: () => ({
        findConfiguration: async ({ uid }: { uid: string }) => ({
          metadatas: Object.fromEntries(
            Object.entries(labels[uid] ?? {}).map(([name, label]) => [name, { edit: { label } }]),
          ),
        }),
      }),
    }),
  } as unknown as Core.Strapi;
  for (const [given, expected] of [
    ['slug_missing', { slug: 'Address' }],
    ['meta_title_has_slash', { meta_title: 'Title for search engines' }],
    ['meta_empty', { meta: 'meta' }],
    ['category.slug_empty', { category: 'Rubric', slug: 'Short name' }],
    ['category_missing', { category: 'Rubric' }],
    ['no_rule', {}],
    ['publishedAt:year_not_a_date', {}],
  ] as const) {
    assert.deepEqual(await labelsOf(strapi, 'a', given), expected, given);
  }
});
