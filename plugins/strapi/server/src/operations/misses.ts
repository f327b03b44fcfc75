import { MISS_REASONS, type Miss, type MissReason, type MissSuggestion } from '../../../shared/problems';
import type { NewRedirect } from '../../../shared/sites';
import { isRecord } from '../service/records';
import type { ServiceResponse } from '../service/client';
import { hasUrl } from './choice';
import { readableOf, rowsOf, type MayRead, type Row } from './reports';

type TypeOf = (uid: string) => { typeName: string; isSingle: boolean };

/** What Strapi knows: its content types, and the codes of its locales. */
interface Knowledge {
  typeOf: TypeOf;
  locales: string[];
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const number = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

const suggestionOf = (
  row: Row,
  isReadable: (version: Row) => boolean,
  typeOf: TypeOf,
): MissSuggestion | null => {
  const { suggestion } = row;
  if (!isRecord(suggestion)) return null;
  const reason = MISS_REASONS.find((known) => known === suggestion.reason) as MissReason | undefined;
  const path = text(suggestion.path);
  // Later versions of the service may have other reasons.
  if (!reason || path === null) return null;
  const contentType = text(suggestion.contentType);
  if (contentType === null) return { path, reason, document: null };
  if (!isReadable(suggestion)) return null;
  const version = {
    contentType,
    documentId: String(suggestion.documentId),
    locale: text(suggestion.locale) ?? '',
  };
  return { path, reason, document: { ...version, ...typeOf(contentType) } };
};

/** The redirect for a path, without a target that the admin may not read. */
const redirectOf = (
  { redirect }: Row,
  suggestion: MissSuggestion | null,
  locales: string[],
): NewRedirect | null => {
  const from = isRecord(redirect) && text(redirect.from);
  if (!isRecord(redirect) || !from) return null;
  const locale = text(redirect.locale);
  return {
    from,
    to: suggestion && text(redirect.to),
    locale: locale !== null && locales.includes(locale) ? locale : null,
  };
};

/** The paths that visitors could not find, without suggestions that the admin may not read. */
export const missesOf = async (
  response: ServiceResponse,
  mayRead: MayRead,
  { typeOf, locales }: Knowledge,
): Promise<Miss[]> => {
  const rows = rowsOf(response, 'misses');
  const suggested = rows.map(({ suggestion }) => suggestion).filter(isRecord);
  const isReadable = await readableOf(
    suggested.filter(({ contentType }) => contentType !== undefined),
    mayRead,
  );
  const miss = (row: Row): Omit<Miss, 'redirect'> => ({
    path: text(row.path),
    host: text(row.host),
    least: number(row.count) - number(row.error),
    most: number(row.count),
    firstAt: text(row.firstAt),
    lastAt: text(row.lastAt),
    suggestion: suggestionOf(row, isReadable, typeOf),
  });
  return rows.map((row) => {
    const shown = miss(row);
    return { ...shown, redirect: redirectOf(row, shown.suggestion, locales) };
  });
};

/** The rows whose path, or that of the suggestion, has a part. */
export const missesWith = (misses: Miss[], search: string | undefined): Miss[] => {
  const part = search?.toLowerCase();
  if (!part) return misses;
  return misses.filter(
    ({ path, suggestion }) =>
      (path !== null && hasUrl(path, part)) || (suggestion && hasUrl(suggestion.path, part)),
  );
};
