import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Core } from '@strapi/strapi';
import { reasonBySchema, relatedEntries, relatedEntry } from '../../server/src/content/related';

type Versions = Record<string, { draft: string[]; published: string[]; links?: Record<string, string> }>;

interface Find {
  filters: { documentId: { $in: string[] } };
  populate?: object;
  locale: string;
  status: 'draft' | 'published';
}

const relation = (target: string) => ({ type: 'relation', target });
const TYPES = {
  article: { category: relation('category'), seo: { type: 'component' }, slug: { type: 'uid' } },
  category: { department: relation('department'), slug: { type: 'uid' } },
  department: { slug: { type: 'uid' } },
};

/** Documents by id, with the locales of their versions, and the relations of their drafts. */
const strapiOf = (documents: Versions, unreadable: string[] = []) =>
  ({
    contentTypes: Object.fromEntries(
      Object.entries(TYPES).map(([uid, attributes]) => [uid, { attributes, kind: 'collectionType' }]),
    ),
    plugin: () => ({
      service: (name: string) =>
        name === 'content-types'
          ? { findConfiguration: async () => ({ settings: { mainField: 'name' } }) }
          : { create: () => ({ can: { read: () => true }, sanitizedQuery: { read: async () => ({}) } }) },
    }),
    documents: () => ({
      findMany: async ({ filters, locale, status, populate }: Find) => {
        if (populate) {
          return filters.documentId.$in.map((documentId) => ({
            documentId,
            ...Object.fromEntries(
              Object.entries(documents[documentId]?.links ?? {}).map(([name, to]) => [
                name,
                { documentId: to },
              ]),
            ),
          }));
        }
        return filters.documentId.$in
          .filter((id) => !unreadable.includes(id))
          .flatMap((id) =>
            (documents[id]?.[status] ?? [])
              .filter((own) => locale === '*' || own === locale)
              .map((own) => ({ documentId: id, locale: own, name: `Name of ${id}` })),
          );
      },
    }),
  }) as unknown as Core.Strapi;

const entry = (locales: string[], links: Record<string, string> = {}) => ({
  draft: ['en', 'de'],
  published: locales,
  links,
});

const document = { uid: 'article', documentId: 'a', locale: 'en' };

test('related: the broken link of the chain is named', async () => {
  for (const [reason, documents, expected] of [
    ['category_missing', { a: entry(['en']) }, undefined],
    ['category_missing', { a: entry(['en'], { category: 'c7' }), c7: entry([]) }, 'category c7 draft true'],
    [
      'category_missing',
      { a: entry(['en'], { category: 'c7' }), c7: entry(['de']) },
      'category c7 in-other-locales true',
    ],
    [
      'category_missing',
      { a: entry(['en'], { category: 'c7' }), c7: entry(['en']) },
      'category c7 published true',
    ],
    [
      'category.department_missing',
      { a: entry(['en'], { category: 'c7' }), c7: entry(['en']) },
      'category c7 published false',
    ],
    [
      'category.department_missing',
      { a: entry(['en'], { category: 'c7' }), c7: entry(['en'], { department: 'd3' }), d3: entry([]) },
      'category.department d3 draft true',
    ],
    [
      'category.department.slug_empty',
      { a: entry(['en'], { category: 'c7' }), c7: entry(['en'], { department: 'd3' }), d3: entry(['en']) },
      'category.department d3 published false',
    ],
    ['seo_missing', { a: entry(['en']) }, undefined],
    ['slug_missing', { a: entry(['en']) }, undefined],
  ] as [string, Versions, string | undefined][]) {
    const found = await relatedEntry(strapiOf(documents), {}, document, reason);
    const { path, documentId, state, isAtFault, title } = found.related ?? {};
    const related = found.related && `${path} ${documentId} ${state} ${isAtFault}`;
    assert.equal(related, expected, reason);
    assert.equal(title, found.related && `Name of ${documentId}`);
    assert.equal(found.reason, reason);
  }
});

test('related: an entry that the admin may not read is not named', async () => {
  const documents = { a: entry(['en'], { category: 'c7' }), c7: entry([]) };
  const found = await relatedEntry(strapiOf(documents, ['c7']), {}, document, 'category_missing');
  assert.deepEqual(found, { reason: 'category_relation_missing' });
});

test('related: the schema tells a relation from a component and a field', () => {
  const strapi = strapiOf({});
  for (const [reason, expected] of [
    ['category_missing', 'category_relation_missing'],
    ['category.department_missing', 'category.department_relation_missing'],
    ['category.department.slug_missing', 'category.department.slug_missing'],
    ['seo_missing', 'seo_missing'],
    ['slug_missing', 'slug_missing'],
    ['no_version', 'no_version'],
  ] as [string, string][]) {
    assert.equal(reasonBySchema(strapi, 'article', reason), expected);
  }
});

test('related: one query finds the entries behind many documents', async () => {
  const documents = {
    a: entry(['en'], { category: 'c7' }),
    b: entry(['en'], { category: 'c7' }),
    d: entry(['en'], { category: 'c8' }),
    e: entry(['en']),
    c7: entry([]),
    c8: entry(['de']),
  };
  const request = { uid: 'article', documentIds: ['a', 'b', 'd', 'e'], locale: 'en' };
  const found = await relatedEntries(strapiOf(documents), {}, request, 'category_missing');
  assert.deepEqual(
    [...found].map(([id, { related }]) => [id, related?.documentId, related?.state]),
    [
      ['a', 'c7', 'draft'],
      ['b', 'c7', 'draft'],
      ['d', 'c8', 'in-other-locales'],
      ['e', undefined, undefined],
    ],
  );
});
