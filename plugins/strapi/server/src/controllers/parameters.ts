import { errors } from '@strapi/utils';
import { KINDS } from '../../../shared/problems';
import { LINK_KINDS, type LinkKind } from '../../../shared/links';
import { MAX_ROWS } from '../../../shared/reports';
import { SITE_KEY } from '../config';
import type { Choice } from '../operations/choice';

export const UID = /^(api|plugin|admin)::[\w-]{1,64}\.[\w-]{1,64}$/;
export const DOCUMENT_ID = /^[A-Za-z0-9_-]{1,64}$/;
export const LOCALE = /^[A-Za-z0-9]{1,8}([-_][A-Za-z0-9]{1,8})*$/;

/** The parameter, of which the form is checked; a 400 names it. */
export const required = (name: string, value: unknown, form: RegExp): string => {
  if (typeof value === 'string' && form.test(value)) return value;
  throw new errors.ValidationError(`\`${name}\` is missing or invalid`);
};

export const uidOf = (value: unknown): string => required('uid', value, UID);

export const documentIdOf = (value: unknown): string => required('documentId', value, DOCUMENT_ID);

/** Absent for types that are not localized. */
export const localeOf = (value: unknown): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : required('locale', value, LOCALE);

export const siteOf = (value: unknown): string => required('site', value, SITE_KEY);

/** 1 to 100 documents, as many as a page of Strapi's list has. */
export const documentIdsOf = (value: unknown): string[] => {
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_ROWS) {
    throw new errors.ValidationError(`\`documentIds\` must have 1 to ${MAX_ROWS} documents`);
  }
  return [...new Set(value.map(documentIdOf))];
};

/** A positive number, at most `max`. */
const numberOf = (name: string, value: unknown, otherwise: number, max: number): number => {
  if (value === undefined) return otherwise;
  const number = Number(required(name, value, /^[1-9][0-9]{0,8}$/));
  return Math.min(number, max);
};

const optional = (name: string, value: unknown, form: RegExp): string | undefined =>
  value === undefined || value === '' ? undefined : required(name, value, form);

/** Any text of so many characters. */
const TEXT = /^[^]{1,1000}$/;

/** What a table shows: filters, search, order and page, by the names that Strapi's lists have. */
export const choiceOf = (query: Record<string, unknown>): Choice => ({
  kind: optional('kind', query.kind, new RegExp(`^(${KINDS.join('|')})$`)) as Choice['kind'],
  contentType: optional('contentType', query.contentType, UID),
  locale: optional('locale', query.locale, LOCALE),
  cause: optional('cause', query.cause, /^[\w-]{16}$/),
  search: optional('_q', query._q, TEXT),
  isFlat: query.view === 'entries',
  sort: optional('sort', query.sort, /^[A-Za-z]+:(ASC|DESC)$/),
  page: numberOf('page', query.page, 1, 100_000_000),
  pageSize: numberOf('pageSize', query.pageSize, 20, MAX_ROWS),
});

/** Broken links unless another kind is asked for. */
export const linkKindOf = (value: unknown): LinkKind =>
  (optional('kind', value, new RegExp(`^(${LINK_KINDS.join('|')})$`)) as LinkKind | undefined) ?? 'broken';

/** A path begins with a slash; the service checks the rest. */
const PATH = /^\/[^]{0,2047}$/;
const HOST = /^[^\s/]{1,1024}$/;

/** The path of the open page; absent without one. */
export const pathOf = (value: unknown): string | undefined => optional('path', value, PATH);

/** The row of a path that was not found; of all of them without a path. */
export const missOf = (query: Record<string, unknown>): { path?: string; host?: string } => {
  const path = optional('path', query.path, PATH);
  const host = optional('host', query.host, HOST);
  return { ...(path && { path }), ...(host && { host }) };
};
