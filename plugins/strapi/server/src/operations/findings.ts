import { createHash } from 'node:crypto';
import { REDIRECT_PROBLEMS, type Finding } from '../../../shared/problems';
import type { PathOwner } from '../../../shared/reports';
import type { KnownReason } from '../content/related';
import type { Title } from '../content/titles';
import { rows as rowsIn } from '../service/records';
import { versionKey, type Row, type Run } from './reports';

/** Documents of one query. */
const BATCH = 500;

/** What Strapi knows of the documents in a report. */
export interface Knowledge {
  typeOf(uid: string): { typeName: string; isSingle: boolean };
  titles(uid: string, documentIds: string[]): Promise<Title[]>;
  labels(uid: string, reason: string): Promise<Record<string, string>>;
  related(uid: string, locale: string, reason: string, ids: string[]): Promise<Map<string, KnownReason>>;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value ? value : undefined);

/**
 * One finding for each dead URL, for each version without a URL, for each that does not own its path, and for
 * each redirect that does not do what it says.
 */
export const findingsOf = async (problems: Row[], runs: Run[], knowledge: Knowledge): Promise<Finding[]> => {
  const version = (row: Row) => {
    const title = text(row.title);
    return {
      contentType: String(row.contentType),
      documentId: String(row.documentId),
      locale: text(row.locale) ?? '',
      ...knowledge.typeOf(String(row.contentType)),
      ...(title && { title }),
    };
  };
  const findings = runs.flatMap(({ dead }) =>
    dead.map((row): Finding => {
      const status = text(row.reason) ?? String(row.status ?? '');
      const url = String(row.url);
      return { ...version(row), kind: 'dead', url, status, cause: `dead ${row.contentType} ${status}` };
    }),
  );
  for (const row of problems) {
    if (row.kind === 'no_url') {
      const reason = String(row.reason);
      const cause = `${row.contentType} ${reason}`;
      findings.push({ ...version(row), kind: 'no_url', reason, cause });
      continue;
    }
    const redirectProblem = REDIRECT_PROBLEMS.find((kind) => kind === row.kind);
    if (redirectProblem) {
      const [url, status] = [text(row.path), text(row.reason)];
      // Of the pages that one redirect hides, each has a row.
      const cause = `${redirectProblem} ${status ?? row.documentId}`;
      const rest = { ...(url && { url }), ...(status && { status }) };
      findings.push({ ...version(row), kind: 'redirect', redirectProblem, ...rest, cause });
      continue;
    }
    const url = String(row.path);
    const { typeName: _, ...owner } = version(row.owner as Row);
    for (const other of rowsIn(row.others)) {
      findings.push({ ...version(other), kind: 'shared_path', url, owner, cause: `path ${url}` });
    }
  }
  await addTitles(findings, knowledge);
  await addReasons(findings, knowledge);
  const keys = new Map<string, string>();
  for (const finding of findings) {
    const key = keys.get(finding.cause) ?? keyOf(finding.cause);
    keys.set(finding.cause, key);
    finding.cause = key;
  }
  return findings;
};

/** Short, and without what has a meaning in an address: Strapi's pagination does not encode it. */
const keyOf = (cause: string): string => createHash('sha256').update(cause).digest('base64url').slice(0, 16);

const grouped = <T>(list: T[], keyOf: (one: T) => string): T[][] => {
  const groups = new Map<string, T[]>();
  for (const one of list) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
};

type Titled = Pick<PathOwner, 'contentType' | 'documentId' | 'locale' | 'title'>;

/** Adds the titles of Strapi where the service has none. */
const addTitles = async (findings: Finding[], { titles }: Knowledge): Promise<void> => {
  const versions: Titled[] = findings.flatMap((one) => (one.owner ? [one, one.owner] : [one]));
  const without = versions.filter(({ title }) => !title);
  for (const group of grouped(without, ({ contentType }) => contentType)) {
    const uid = group[0]?.contentType ?? '';
    const ids = [...new Set(group.map(({ documentId }) => documentId))];
    const known = new Map<string, string>();
    for (let at = 0; at < ids.length; at += BATCH) {
      const found = await titles(uid, ids.slice(at, at + BATCH));
      for (const { documentId, locale, title } of found) known.set(versionKey(documentId, locale), title);
    }
    for (const row of group) {
      const title =
        known.get(versionKey(row.documentId, row.locale)) ?? known.get(versionKey(row.documentId, null));
      if (title) row.title = title;
    }
  }
};

/** Adds what a reason is about: the names of the fields, and the related entry that is at fault. */
const addReasons = async (findings: Finding[], { labels, related }: Knowledge): Promise<void> => {
  const withReason = findings.filter(({ reason }) => reason !== undefined);
  for (const group of grouped(withReason, (one) => `${one.contentType} ${one.reason}`)) {
    const { contentType = '', reason = '' } = group[0] ?? {};
    const names = await labels(contentType, reason);
    for (const finding of group) finding.labels = names;
    for (const rows of grouped(group, ({ locale }) => locale)) {
      const ids = rows.map(({ documentId }) => documentId);
      const found = await related(contentType, rows[0]?.locale ?? '', reason, ids);
      for (const finding of rows) Object.assign(finding, found.get(finding.documentId));
    }
    for (const finding of group) {
      const entry = finding.related;
      // An entry that is not published in one language and one that is not in another are one cause.
      if (entry?.isAtFault) finding.cause = `entry ${entry.uid} ${entry.documentId}`;
      else if (entry) finding.cause = `entry ${entry.uid} ${entry.documentId} ${reason}`;
      // A field without a value and one with an empty text have the same words.
      else finding.cause = `${contentType} ${finding.reason?.replace(/_empty$/, '_missing')}`;
    }
  }
};
