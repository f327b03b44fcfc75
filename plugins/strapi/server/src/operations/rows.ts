import type { Owner } from '../../../shared/reports';
import { ownerIn } from '../content/owner';
import type { ServiceResponse } from '../service/client';
import { ServiceFailure } from '../service/failure';
import { pageUrl } from '../service/page-url';
import { rows, type Row } from '../service/records';

export interface RowsKey {
  uid: string;
  locale?: string | undefined;
  site?: string | undefined;
  documentIds: string[];
}

export type Post = (
  path: string,
  query: Record<string, string | undefined>,
  body: unknown,
) => Promise<ServiceResponse>;

/** A row before it is known which owner of its path the admin may read. */
export type FoundRow = { url: string; owner?: Owner } | { reason: string };

const rowOf = ({ url, reason, sharedPath }: Row): FoundRow => {
  if (url === undefined) return { reason: typeof reason === 'string' ? reason : 'unknown' };
  const owner = ownerIn(sharedPath);
  return { url: pageUrl(url), ...(owner && { owner }) };
};

/** The published URLs of a page of rows, by one request, by `documentId`. */
export const readRows = async (post: Post, key: RowsKey): Promise<Record<string, FoundRow>> => {
  const documents = key.documentIds.map((documentId) => ({
    uid: key.uid,
    documentId,
    ...(key.locale && { locale: key.locale }),
  }));
  const { status, data } = await post('/api/frontend-urls', { site: key.site }, { documents });
  if (status === 400) throw new ServiceFailure('unknown-site');
  const { results } = data;
  if (status !== 200 || !Array.isArray(results)) throw new ServiceFailure('older-version');
  return Object.fromEntries(rows(results).map((result) => [String(result.documentId), rowOf(result)]));
};
