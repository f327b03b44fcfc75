import type { Core, UID } from '@strapi/strapi';
import type { RedirectType } from '../../../shared/sites';
import type { ServiceRedirects } from '../operations/sites';
import { checkerOf, type Ability } from './readable';

/** The types of fields whose value in a form is a text. */
const TEXTS = ['string', 'text', 'uid'];

/**
 * A content type of redirects with the fields that a form has and the admin may set in a new entry.
 * Null: the admin may not create one with a path.
 */
export const redirectTypeOf = (
  strapi: Core.Strapi,
  ability: Ability,
  { uid, from, to }: ServiceRedirects,
): RedirectType | null => {
  const model = strapi.contentTypes[uid as UID.ContentType];
  if (model?.kind !== 'collectionType') return null;
  const { can } = checkerOf(strapi, ability, uid);
  const maySet = (field: string | null): boolean =>
    field !== null &&
    TEXTS.includes(model.attributes[field]?.type ?? '') &&
    Boolean(can.create(undefined, field));
  if (!maySet(from)) return null;
  const { i18n } = (model.pluginOptions ?? {}) as { i18n?: { localized?: boolean } };
  return { uid, from, to: maySet(to) ? to : null, isLocalized: i18n?.localized === true };
};
