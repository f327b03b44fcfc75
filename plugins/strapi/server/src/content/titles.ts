import type { Core, UID } from '@strapi/strapi';
import { readableVersions, type Ability } from './readable';

/** The field that Strapi's lists show as the title of an entry; null if the admin may not read it. */
const titleField = async (strapi: Core.Strapi, ability: Ability, uid: string): Promise<string | null> => {
  const contentManager = strapi.plugin('content-manager');
  const { settings } = await contentManager.service('content-types').findConfiguration({ uid });
  const field: unknown = settings?.mainField;
  if (typeof field !== 'string' || field === 'id' || field === 'documentId') return null;
  const checker = contentManager.service('permission-checker').create({ userAbility: ability, model: uid });
  return checker.can.read(undefined, field) ? field : null;
};

export interface Title {
  documentId: string;
  /** Null for a type that is not localized. */
  locale: string | null;
  title: string;
}

/** The titles of the versions of documents that the admin may read, in all locales. */
export const titlesOf = async (
  strapi: Core.Strapi,
  ability: Ability,
  uid: string,
  documentIds: string[],
  status: 'draft' | 'published' = 'published',
): Promise<Title[]> => {
  if (!strapi.contentTypes[uid as UID.ContentType]) return [];
  const field = await titleField(strapi, ability, uid);
  if (!field) return [];
  const version = { locale: '*', status };
  const rows = await readableVersions(strapi, ability, uid, documentIds, version, [field]);
  return rows.flatMap(({ documentId, locale, ...row }) => {
    const title = (row as Record<string, unknown>)[field];
    return typeof title === 'string' && title ? [{ documentId, locale, title }] : [];
  });
};
