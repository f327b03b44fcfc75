import type { Core, UID } from '@strapi/strapi';
import type { Related } from '../../../shared/reports';
import { readableVersions, type Ability } from './readable';
import { titlesOf } from './titles';

/** A relation on the path that a reason names, and the content type behind it. */
interface Step {
  name: string;
  target: string;
}

interface Path {
  steps: Step[];
  /** Whether the path ends with a relation: the relation itself is missing. */
  endsWithRelation: boolean;
}

interface Attributes {
  [name: string]: { type: string; target?: string };
}

/**
 * The relations on the path of a reason, by the schema: `category` of `category_missing` and of
 * `category.slug_empty`. A component ends the path, because a component is never published itself.
 */
const pathOf = (strapi: Core.Strapi, uid: string, reason: string): Path => {
  const steps: Step[] = [];
  const parts = reason.split('.');
  for (const [at, part] of parts.entries()) {
    const type = strapi.contentTypes[(steps.at(-1)?.target ?? uid) as UID.ContentType];
    const attributes = (type?.attributes ?? {}) as unknown as Attributes;
    const isLast = at === parts.length - 1;
    const name = isLast ? part.replace(/_missing$/, '') : part;
    const { type: kind, target } = attributes[name] ?? {};
    if (kind !== 'relation' || !target) break;
    steps.push({ name, target });
    if (isLast) return { steps, endsWithRelation: true };
  }
  return { steps, endsWithRelation: false };
};

/** The same reason; `category_relation_missing` for a relation, which leads to no published entry. */
export const reasonBySchema = (strapi: Core.Strapi, uid: string, reason: string): string =>
  pathOf(strapi, uid, reason).endsWithRelation ? reason.replace(/_missing$/, '_relation_missing') : reason;

/** Documents of one query. */
const BATCH = 500;

/** A reason as far as the admin may read what is behind it. */
export interface KnownReason {
  reason: string;
  related?: Related;
}

interface Documents {
  uid: string;
  documentIds: string[];
  locale?: string | undefined;
}

/**
 * For each of the documents, the last entry on the path of the reason, and the reason as far as drafts
 * show it: the published version has no relation to an entry that is not published. Only entries that
 * the admin may read.
 */
export const relatedEntries = async (
  strapi: Core.Strapi,
  ability: Ability,
  { uid, documentIds, locale }: Documents,
  reason: string,
): Promise<Map<string, KnownReason>> => {
  const found = new Map<string, KnownReason>(documentIds.map((id) => [id, { reason }]));
  const { steps, endsWithRelation } = pathOf(strapi, uid, reason);
  // The documents by the entry on their path that the last step has reached.
  let reached = new Map<string, string[]>(documentIds.map((id) => [id, [id]]));
  let source = uid;
  for (const [at, { name, target }] of steps.entries()) {
    const links = await linksOf(strapi, { uid: source, documentIds: [...reached.keys()], locale }, name);
    const next = new Map<string, string[]>();
    for (const [from, documents] of reached) {
      const to = links.get(from);
      // The draft has no such relation either, so that the relation is empty.
      if (to) next.set(to, (next.get(to) ?? []).concat(documents));
    }
    const isLast = at === steps.length - 1;
    const entries = await entriesOf(strapi, ability, target, [...next.keys()], locale);
    const path = steps
      .slice(0, at + 1)
      .map((step) => step.name)
      .join('.');
    reached = new Map();
    for (const [id, documents] of next) {
      const entry = entries.get(id);
      for (const document of documents) {
        const before = found.get(document)?.related;
        if (!entry) {
          const known = reasonBySchema(strapi, uid, reason);
          found.set(document, { reason: known, ...(before && { related: before }) });
        } else {
          const isAtFault = entry.state !== 'published' || (endsWithRelation && isLast);
          found.set(document, { reason, related: { ...entry, path, isAtFault } });
        }
      }
      // What is behind an entry without a published version does not matter.
      if (entry?.state === 'published') reached.set(id, documents);
    }
    source = target;
  }
  return found;
};

export const relatedEntry = async (
  strapi: Core.Strapi,
  ability: Ability,
  { uid, documentId, locale }: { uid: string; documentId: string; locale?: string | undefined },
  reason: string,
): Promise<KnownReason> => {
  const documents = { uid, documentIds: [documentId], locale };
  return (await relatedEntries(strapi, ability, documents, reason)).get(documentId) ?? { reason };
};

/** The entries that the admin may read, by their ids. */
const entriesOf = async (
  strapi: Core.Strapi,
  ability: Ability,
  uid: string,
  documentIds: string[],
  locale: string | undefined,
): Promise<Map<string, Omit<Related, 'path' | 'isAtFault'>>> => {
  const entries = new Map<string, Omit<Related, 'path' | 'isAtFault'>>();
  const isSingle = strapi.contentTypes[uid as UID.ContentType]?.kind === 'singleType';
  const isHere = (one: { locale: string | null }) => one.locale === null || one.locale === locale;
  for (let at = 0; at < documentIds.length; at += BATCH) {
    const ids = documentIds.slice(at, at + BATCH);
    const [drafts, published, titles] = await Promise.all([
      readableVersions(strapi, ability, uid, ids, { locale: '*', status: 'draft' }),
      readableVersions(strapi, ability, uid, ids, { locale: '*', status: 'published' }),
      titlesOf(strapi, ability, uid, ids, 'draft'),
    ]);
    for (const documentId of ids) {
      const isOwn = (one: { documentId: string }) => one.documentId === documentId;
      const anywhere = published.filter(isOwn);
      if (!anywhere.length && !drafts.some((one) => isOwn(one) && (isHere(one) || locale === undefined)))
        continue;
      const own = titles.filter(isOwn);
      const title = (own.find(isHere) ?? own[0])?.title;
      const state =
        locale === undefined || !anywhere.length || anywhere.some(isHere)
          ? anywhere.length
            ? ('published' as const)
            : ('draft' as const)
          : ('in-other-locales' as const);
      entries.set(documentId, { uid, documentId, isSingle, state, ...(title && { title }) });
    }
  }
  return entries;
};

/** The `documentId` behind a relation of each draft that has one. */
const linksOf = async (
  strapi: Core.Strapi,
  { uid, documentIds, locale }: Documents,
  name: string,
): Promise<Map<string, string>> => {
  const links = new Map<string, string>();
  for (let at = 0; at < documentIds.length; at += BATCH) {
    const rows = (await strapi.documents(uid as UID.ContentType).findMany({
      filters: { documentId: { $in: documentIds.slice(at, at + BATCH) } },
      locale,
      status: 'draft',
      fields: ['documentId'],
      populate: { [name]: { fields: ['documentId'] } },
      limit: -1,
    } as never)) as unknown as Record<string, unknown>[];
    for (const row of rows) {
      const to = (row[name] as { documentId?: string } | null | undefined)?.documentId;
      if (to) links.set(String(row.documentId), to);
    }
  }
  return links;
};
