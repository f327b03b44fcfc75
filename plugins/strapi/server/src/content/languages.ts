import type { Core } from '@strapi/strapi';
import type { FoundLanguage } from '../operations/document';
import { mayReadLocale, readableVersions, type Ability } from './readable';

/**
 * What a document has in other languages, of those that the admin may read. Without a published version,
 * the reason says whether there is a draft.
 */
export const readableLanguages = async (
  strapi: Core.Strapi,
  ability: Ability,
  { uid, documentId }: { uid: string; documentId: string },
  languages: FoundLanguage[],
): Promise<FoundLanguage[]> => {
  if (!languages.length) return [];
  const read = async (status: 'draft' | 'published'): Promise<(string | null)[]> => {
    const found = await readableVersions(strapi, ability, uid, [documentId], { locale: '*', status });
    return found.map(({ locale }) => locale);
  };
  const [drafts, published] = await Promise.all([read('draft'), read('published')]);
  return languages.flatMap(({ locale, address }) => {
    const isMissing = 'reason' in address && address.reason === 'no_version';
    if (!isMissing) return published.includes(locale) ? [{ locale, address }] : [];
    if (drafts.includes(locale)) return [{ locale, address: { reason: 'only_draft', rule: null } }];
    return mayReadLocale(strapi, ability, uid, locale)
      ? [{ locale, address: { reason: 'no_translation', rule: null } }]
      : [];
  });
};
