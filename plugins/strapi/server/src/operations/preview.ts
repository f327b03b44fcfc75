import type { ServiceResponse } from '../service/client';
import { ServiceFailure } from '../service/failure';
import { isRecord, type Row } from '../service/records';
import type { DocumentKey, Get } from './document';
import { readableOf, type MayRead } from './reports';

/** What publishing, unpublishing and deleting would do, or why that is not known. */
export type Preview = { effects: Row } | { reason: string };

const responseOf = (get: Get, { uid, documentId, locale, site }: DocumentKey): Promise<ServiceResponse> =>
  get('/api/publish-preview', { uid, documentId, locale, site }, 'draft');

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
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hidden(one, isHidden)]));
};

/** The effects without the documents that the admin may not read: a path is taken, but not by what. */
export const readPreview = async (get: Get, key: DocumentKey, mayRead: MayRead): Promise<Preview> => {
  const { status, data, details } = await responseOf(get, key);
  if (status === 400) throw new ServiceFailure('unknown-site');
  if (status === 501) return { reason: 'no_base_url' };
  if (status === 404) {
    // The service says so of a route that it does not have.
    if (typeof details.reason !== 'string' || details.reason === 'no_route') {
      throw new ServiceFailure('older-version');
    }
    return { reason: details.reason };
  }
  const isReadable = await readableOf(documentsIn(Object.values(data), key.locale), mayRead);
  const isHidden = (row: Row) => !isReadable(versionOf(row, key.locale));
  // The first level is about the document itself.
  const effects = Object.entries(data).map(([name, one]) => [name, hidden(one, isHidden)]);
  return { effects: Object.fromEntries(effects) };
};
