import { errors } from '@strapi/utils';
import { MAX_ROWS } from '../../../shared/reports';

const UID = /^(api|plugin|admin)::[\w-]{1,64}\.[\w-]{1,64}$/;
const DOCUMENT_ID = /^[A-Za-z0-9_-]{1,64}$/;
const LOCALE = /^[A-Za-z0-9]{1,8}([-_][A-Za-z0-9]{1,8})*$/;

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

export const siteOf = (value: unknown): string => required('site', value, /^[A-Za-z0-9._-]{1,64}$/);

/** 1 to 100 documents, as many as a page of Strapi's list has. */
export const documentIdsOf = (value: unknown): string[] => {
  if (!Array.isArray(value) || value.length < 1 || value.length > MAX_ROWS) {
    throw new errors.ValidationError(`\`documentIds\` must have 1 to ${MAX_ROWS} documents`);
  }
  return [...new Set(value.map(documentIdOf))];
};
