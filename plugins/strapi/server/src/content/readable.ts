import type { Core, UID } from '@strapi/strapi';
import { excludesNothing } from './conditions';

/** The abilities of the admin that sends a request (`ctx.state.userAbility`). */
export type Ability = object;

/** A version of a document that the admin may read. */
export interface Version {
  documentId: string;
  /** Null for a type that is not localized. */
  locale: string | null;
  updatedAt: string;
}

/** Strapi's checks of what an admin may do with a content type. */
export const checkerOf = (strapi: Core.Strapi, ability: Ability, uid: string) =>
  strapi.plugin('content-manager').service('permission-checker').create({ userAbility: ability, model: uid });

/** Whether the admin may read some documents of the type, also if conditions exclude others. */
export const mayReadType = (strapi: Core.Strapi, ability: Ability, uid: string): boolean =>
  Boolean(strapi.contentTypes[uid as UID.ContentType]) && checkerOf(strapi, ability, uid).can.read();

/** The part of an ability that lists the rules of an action. */
interface Rules {
  rulesFor(action: string, subject: string): { conditions?: unknown }[];
}

const READ = 'plugin::content-manager.explorer.read';

/** The codes of the locales that Strapi has. */
export const localesOf = async (strapi: Core.Strapi): Promise<string[]> => {
  const found: { code: string }[] = (await strapi.plugin('i18n')?.service('locales').find()) ?? [];
  return found.map(({ code }) => code);
};

/** Whether no condition of the permission excludes a document in these locales, such as "is creator". */
const mayReadLocales = (strapi: Core.Strapi, ability: Ability, uid: string, locales: string[]): boolean =>
  mayReadType(strapi, ability, uid) &&
  // One rule without exclusions is enough: an admin has the permissions of all their roles.
  (ability as Rules).rulesFor(READ, uid).some(({ conditions }) => excludesNothing(conditions, locales));

export const mayReadLocale = (strapi: Core.Strapi, ability: Ability, uid: string, locale: string): boolean =>
  mayReadLocales(strapi, ability, uid, [locale]);

export const mayReadWholeType = async (
  strapi: Core.Strapi,
  ability: Ability,
  uid: string,
): Promise<boolean> => mayReadLocales(strapi, ability, uid, await localesOf(strapi));

/**
 * Those of the documents that the admin may read, by the filters that Strapi's content manager
 * derives from the conditions and locales of the permission. One query to the database.
 */
export const readableVersions = async (
  strapi: Core.Strapi,
  ability: Ability,
  uid: string,
  documentIds: string[],
  version: { locale?: string | undefined; status: 'draft' | 'published' },
  fields: string[] = [],
): Promise<Version[]> => {
  if (!mayReadType(strapi, ability, uid)) return [];
  const { filters } = await checkerOf(strapi, ability, uid).sanitizedQuery.read({});
  const wanted = { documentId: { $in: documentIds } };
  const rows = await strapi.documents(uid as UID.ContentType).findMany({
    filters: filters ? { $and: [wanted, filters] } : wanted,
    fields: ['documentId', 'locale', 'updatedAt', ...fields],
    limit: -1,
    ...version,
  } as never);
  return rows as unknown as Version[];
};
