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

/**
 * The last entry on the path of the reason, and the reason as far as drafts show it: the published
 * version has no relation to an entry that is not published. Only entries that the admin may read.
 */
export const relatedEntry = async (
  strapi: Core.Strapi,
  ability: Ability,
  document: { uid: string; documentId: string; locale?: string | undefined },
  reason: string,
): Promise<{ reason: string; related?: Related }> => {
  const { locale } = document;
  const { steps, endsWithRelation } = pathOf(strapi, document.uid, reason);
  let [entry, related]: [{ uid: string; documentId: string }, Related | undefined] = [document, undefined];
  for (const [at, { name, target: uid }] of steps.entries()) {
    const documentId = await idBehind(strapi, entry, name, locale);
    // The draft has no such relation either, so that the relation is empty.
    if (!documentId) break;
    const version = (version: { locale: string | undefined; status: 'draft' | 'published' }) =>
      readableVersions(strapi, ability, uid, [documentId], version);
    const [draft, published, anywhere] = await Promise.all([
      version({ locale, status: 'draft' }),
      version({ locale, status: 'published' }),
      version({ locale: '*', status: 'published' }),
    ]);
    if (!draft.length && !published.length && !anywhere.length) {
      return { reason: reasonBySchema(strapi, document.uid, reason), ...(related && { related }) };
    }
    const titles = await titlesOf(strapi, ability, uid, [documentId], 'draft');
    const title = (titles.find((own) => own.locale === null || own.locale === locale) ?? titles[0])?.title;
    related = {
      uid,
      documentId,
      isSingle: strapi.contentTypes[uid as UID.ContentType]?.kind === 'singleType',
      path: steps
        .slice(0, at + 1)
        .map((step) => step.name)
        .join('.'),
      state: published.length ? 'published' : anywhere.length ? 'in-other-locales' : 'draft',
      isAtFault: endsWithRelation && at === steps.length - 1,
      ...(title && { title }),
    };
    entry = { uid, documentId };
    // What is behind an entry without a published version does not matter.
    if (related.state !== 'published') return { reason, related: { ...related, isAtFault: true } };
  }
  return { reason, ...(related && { related }) };
};

/** The `documentId` behind a relation of a draft. */
const idBehind = async (
  strapi: Core.Strapi,
  { uid, documentId }: { uid: string; documentId: string },
  name: string,
  locale: string | undefined,
): Promise<string | undefined> => {
  const found = (await strapi.documents(uid as UID.ContentType).findOne({
    documentId,
    locale,
    status: 'draft',
    fields: ['documentId'],
    populate: { [name]: { fields: ['documentId'] } },
  } as never)) as Record<string, unknown> | null;
  return (found?.[name] as { documentId?: string } | null | undefined)?.documentId;
};
