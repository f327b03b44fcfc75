import type { Core, UID } from '@strapi/strapi';
import type { Owner, PathOwner } from '../../../shared/reports';
import { isRecord } from '../service/records';
import { readableVersions, type Ability } from './readable';
import { titlesOf } from './titles';

/** The owner in `sharedPath` of a response; undefined if the document owns its path. */
export const ownerIn = (sharedPath: unknown): Owner | undefined => {
  const owner = isRecord(sharedPath) ? sharedPath.owner : undefined;
  if (!isRecord(owner)) return undefined;
  const { contentType, documentId, locale } = owner;
  const isOwner = [contentType, documentId, locale].every((value) => typeof value === 'string');
  return isOwner ? ({ contentType, documentId, locale } as Owner) : undefined;
};

/** The owner of a path with its title; null if the admin may not read it. */
export const readableOwner = async (
  strapi: Core.Strapi,
  ability: Ability,
  owner: Owner,
): Promise<PathOwner | null> => {
  const { contentType, documentId } = owner;
  const version = { locale: '*', status: 'published' as const };
  const isOwn = ({ locale }: { locale: string | null }) => locale === null || locale === owner.locale;
  const found = await readableVersions(strapi, ability, contentType, [documentId], version);
  if (!found.some(isOwn)) return null;
  const title = (await titlesOf(strapi, ability, contentType, [documentId])).find(isOwn)?.title;
  const isSingle = strapi.contentTypes[contentType as UID.ContentType]?.kind === 'singleType';
  return { ...owner, isSingle, ...(title && { title }) };
};
