import type { Core, UID } from '@strapi/strapi';
import type { Related } from '../../../shared/reports';
import { readableVersions, type Ability } from './readable';

/** The first field of `category.slug_missing` is `category`; null for a field of the document itself. */
export const relationOf = (reason: string): string | null => reason.match(/^(\w+)\./)?.[1] ?? null;

/**
 * The entry that the relation in the reason leads to, if the admin may read it. The draft is read,
 * because the published version has no relation to an entry that is not published.
 */
export const relatedEntry = async (
  strapi: Core.Strapi,
  ability: Ability,
  document: { uid: string; documentId: string; locale?: string | undefined },
  reason: string,
): Promise<Related | undefined> => {
  const name = relationOf(reason);
  const attribute = name ? strapi.contentTypes[document.uid as UID.ContentType]?.attributes[name] : undefined;
  const target = (attribute as { target?: string } | undefined)?.target;
  if (!name || attribute?.type !== 'relation' || !target) return undefined;

  const found = (await strapi.documents(document.uid as UID.ContentType).findOne({
    documentId: document.documentId,
    locale: document.locale,
    status: 'draft',
    fields: ['documentId'],
    populate: { [name]: { fields: ['documentId'] } },
  } as never)) as Record<string, unknown> | null;
  const entry = found?.[name] as { documentId?: string } | null | undefined;
  if (!entry?.documentId) return undefined;

  const ids = [entry.documentId];
  const version = (status: 'draft' | 'published') =>
    readableVersions(strapi, ability, target, ids, { locale: document.locale, status });
  const [draft, published] = await Promise.all([version('draft'), version('published')]);
  if (!draft.length && !published.length) return undefined;
  const isSingle = strapi.contentTypes[target as UID.ContentType]?.kind === 'singleType';
  return { uid: target, documentId: entry.documentId, isSingle, published: published.length > 0 };
};
