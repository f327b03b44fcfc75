import { ServiceFailure } from '../service/failure';
import { isRecord, rows, type Row } from '../service/records';
import type { DocumentKey, Get } from './document';
import { readableOf, type MayRead } from './reports';

/** What publishing, unpublishing and deleting would do on each site, or why that is not known. */
export type Preview = { sites: Row[] } | { reason: string };

/** Each object in `value` that names a document, with the locale that is meant. */
const documentsIn = (value: unknown, locale: string | undefined): Row[] => {
  if (Array.isArray(value)) return value.flatMap((one) => documentsIn(one, locale));
  if (!isRecord(value)) return [];
  const inside = Object.values(value).flatMap((one) => documentsIn(one, locale));
  return isDocument(value) ? [versionOf(value, locale), ...inside] : inside;
};

const isDocument = ({ contentType, documentId }: Row): boolean =>
  typeof contentType === 'string' && typeof documentId === 'string';

const versionOf = (row: Row, locale: string | undefined): Row => ({ ...row, locale: row.locale ?? locale });

/** What stands for a document that the admin may not read. */
const HIDDEN = { hidden: true };

const hidden = (value: unknown, isHidden: (row: Row) => boolean): unknown => {
  if (Array.isArray(value)) return value.map((one) => hidden(one, isHidden));
  if (!isRecord(value)) return value;
  if (isDocument(value) && isHidden(value)) return HIDDEN;
  const shown = isDocument(value) ? value : withoutIds(value);
  return Object.fromEntries(Object.entries(shown).map(([name, one]) => [name, hidden(one, isHidden)]));
};

/** Without the ids and the texts that name a related document: its field and the reason stay. */
const withoutIds = ({ documentId: _, message: __, ...row }: Row): Row => row;

/**
 * The effects on those of the sites, or on all, without the documents that the admin may not read: a path
 * is taken, but not by what.
 */
export const readPreview = async (
  get: Get,
  { uid, documentId, locale }: DocumentKey,
  sites: string[],
  mayRead: MayRead,
): Promise<Preview> => {
  const site = sites.length === 1 ? sites[0] : undefined;
  const { status, data, details } = await get(
    '/api/publish-preview',
    { uid, documentId, locale, site },
    'draft',
  );
  if (status === 400) throw new ServiceFailure('unknown-site');
  const { reason } = details;
  // The service says `no_route` of a route that it does not have.
  if (status === 404 && (typeof reason !== 'string' || reason === 'no_route')) {
    throw new ServiceFailure('older-version');
  }
  if (status !== 200) return { reason: String(reason ?? 'unknown') };
  const own = rows(data.sites).filter((row) => !sites.length || sites.includes(String(row.site)));
  if (!own.length) return { reason: 'no_rule' };
  const isReadable = await readableOf(documentsIn(own, locale), mayRead);
  const isHidden = (row: Row) => !isReadable(versionOf(row, locale));
  return { sites: rows(hidden(own, isHidden)) };
};
