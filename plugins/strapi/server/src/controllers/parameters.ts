import { errors } from '@strapi/utils';

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
