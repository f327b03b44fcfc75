import { MAX_ROWS, type Result, type RowReport } from '../../../shared/reports';

export type RowResult = RowReport | { failure: string };

/** One request for the rows of a content type in one locale. */
export type LoadRows = (
  uid: string,
  locale: string | undefined,
  documentIds: string[],
) => Promise<Result<Record<string, RowReport>>>;

interface Waiting {
  documentId: string;
  done: (row: RowResult) => void;
}

const MISSING: RowReport = { reason: 'unknown' };

/** Collects the rows that are asked for in one tick into one request for each type and locale. */
export const createBatches = (load: LoadRows) => {
  const waiting = new Map<string, { uid: string; locale: string | undefined; rows: Waiting[] }>();

  const send = async (uid: string, locale: string | undefined, rows: Waiting[]): Promise<void> => {
    const ids = [...new Set(rows.map(({ documentId }) => documentId))];
    const result = await load(uid, locale, ids).catch(() => ({ failure: 'unreachable' as const }));
    for (const { documentId, done } of rows) {
      done('failure' in result ? result : (result.report[documentId] ?? MISSING));
    }
  };

  const flush = (): void => {
    for (const { uid, locale, rows } of waiting.values()) {
      for (let at = 0; at < rows.length; at += MAX_ROWS)
        void send(uid, locale, rows.slice(at, at + MAX_ROWS));
    }
    waiting.clear();
  };

  return (uid: string, locale: string | undefined, documentId: string): Promise<RowResult> =>
    new Promise((done) => {
      if (!waiting.size) setTimeout(flush);
      const key = JSON.stringify([uid, locale]);
      const batch = waiting.get(key) ?? { uid, locale, rows: [] };
      batch.rows.push({ documentId, done });
      waiting.set(key, batch);
    });
};
