import type { Move } from '../../../shared/problems';
import { hasUrl } from './choice';
import type { Row } from './reports';

/** The rows whose former or present path has a part. */
export const movesWith = (
  rows: Row[],
  search: string | undefined,
  typeOf: (uid: string) => { typeName: string; isSingle: boolean },
): Move[] => {
  const part = search?.toLowerCase();
  return rows
    .map((row) => ({
      from: String(row.from),
      path: String(row.path),
      since: typeof row.since === 'string' ? row.since : null,
      contentType: String(row.contentType),
      documentId: String(row.documentId),
      locale: typeof row.locale === 'string' ? row.locale : '',
      ...typeOf(String(row.contentType)),
    }))
    .filter(({ from, path }) => !part || hasUrl(from, part) || hasUrl(path, part));
};
