import { REDIRECT_PROBLEMS } from '../../../shared/problems';
import type { ServiceResponse } from '../service/client';
import { ServiceFailure } from '../service/failure';
import { rows as rowsIn, type Row } from '../service/records';

/** Which rows of a type the admin may read: all, none, or those with these keys. */
export type Readable = 'all' | 'none' | ReadonlySet<string>;

/** Returns which of the documents of a type the admin may read. */
export type MayRead = (uid: string, documentIds: string[]) => Promise<Readable>;

export type { Row };

export const rowsOf = (response: ServiceResponse, member: string): Row[] => {
  if (response.status === 400) throw new ServiceFailure('unknown-site');
  const found = response.data[member];
  if (response.status !== 200 || !Array.isArray(found)) throw new ServiceFailure('older-version');
  return rowsIn(found);
};

/** The key of a version; a document that is not localized has one for all locales. */
export const versionKey = (documentId: unknown, locale: unknown): string => `${documentId} ${locale ?? '*'}`;

const isIn = (keys: ReadonlySet<string>, { documentId, locale }: Row): boolean =>
  keys.has(versionKey(documentId, locale)) || keys.has(versionKey(documentId, null));

const KINDS: unknown[] = ['no_url', 'shared_path', ...REDIRECT_PROBLEMS];

/** The documents of a row: those that share a path, or the one that it is about. */
const versionsOf = (row: Row): Row[] =>
  row.kind === 'shared_path' ? rowsIn([row.owner, ...rowsIn(row.others)]) : [row];

/** Returns whether the admin may read a version, after one query for each type. */
export const readableOf = async (versions: Row[], mayRead: MayRead): Promise<(version: Row) => boolean> => {
  const ids = new Map<string, Set<string>>();
  for (const { contentType, documentId } of versions) {
    const uid = String(contentType);
    ids.set(uid, (ids.get(uid) ?? new Set()).add(String(documentId)));
  }
  const readable = new Map<string, Readable>();
  for (const [uid, documents] of ids) readable.set(uid, await mayRead(uid, [...documents]));
  return (version) => {
    const found = readable.get(String(version.contentType)) ?? 'none';
    return typeof found === 'string' ? found === 'all' : isIn(found, version);
  };
};

/**
 * The problems of a site, without those of documents that the admin may not read. A path is listed
 * only where all its documents are readable.
 */
export const problemsOf = async (response: ServiceResponse, mayRead: MayRead): Promise<Row[]> => {
  // Later versions of the service may have other kinds.
  const rows = rowsOf(response, 'problems').filter(({ kind }) => KINDS.includes(kind));
  const isReadable = await readableOf(rows.flatMap(versionsOf), mayRead);
  return rows.filter((row) => versionsOf(row).every(isReadable));
};

/** The last run of URL checks of a content type. */
export interface Run {
  uid: string;
  /** Null where the admin may not read all pages. */
  count: number | null;
  endedAt: string;
  isCut: boolean;
  dead: Row[];
}

/** The last runs of URL checks, with the dead URLs of documents that the admin may read. */
export const runsOf = async (response: ServiceResponse, mayRead: MayRead): Promise<Run[]> => {
  const runs: Run[] = [];
  for (const run of rowsOf(response, 'validations')) {
    const uid = String(run.contentType);
    const dead = rowsIn(run.dead ?? []).map((row): Row => ({ ...row, contentType: uid }));
    const readable = await mayRead(
      uid,
      dead.map(({ documentId }) => String(documentId)),
    );
    if (readable === 'none') continue;
    runs.push({
      uid,
      // The number of pages includes those that the admin may not read.
      count: readable === 'all' ? Number(run.count) : null,
      endedAt: String(run.endedAt),
      isCut: run.truncated === true,
      dead: dead.filter((row) => readable === 'all' || isIn(readable, row)),
    });
  }
  return runs;
};

/** Pages that have moved, the latest first, of documents that the admin may read. */
export const movesOf = async (response: ServiceResponse, mayRead: MayRead): Promise<Row[]> => {
  const rows = rowsOf(response, 'redirects');
  const isReadable = await readableOf(rows, mayRead);
  return rows
    .filter(isReadable)
    .sort((one, other) => String(other.since ?? '').localeCompare(String(one.since ?? '')));
};
