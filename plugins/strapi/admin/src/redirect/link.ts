import type { NewRedirect, RedirectType } from '../../../shared/sites';

/** The parameter of the address with the values of a new redirect. */
export const PARAMETER = 'frontend-map-redirect';

/** What the form is filled with. */
export interface Values {
  from: string;
  to: string | null;
}

/** Letters, digits, `-` and `_` alone: Strapi writes parameters again without encoding them. */
const encoded = (values: Values): string => {
  const bytes = new TextEncoder().encode(JSON.stringify(values));
  const letters = btoa(String.fromCharCode(...bytes));
  return letters.replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
};

/** The values in the parameter; null for anything that `createLink` has not written. */
export const valuesIn = (parameter: unknown): Values | null => {
  if (typeof parameter !== 'string') return null;
  try {
    const letters = atob(parameter.replace(/-/g, '+').replace(/_/g, '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const { from, to } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    if (typeof from !== 'string' || !from.startsWith('/')) return null;
    return { from, to: typeof to === 'string' ? to : null };
  } catch {
    return null;
  }
};

/** The page of Strapi for a new entry, which `FillRedirect` fills. */
export const createLink = ({ uid, isLocalized }: RedirectType, { from, to, locale }: NewRedirect): string => {
  const ofLocale = isLocalized && locale ? `plugins[i18n][locale]=${encodeURIComponent(locale)}&` : '';
  return `/content-manager/collection-types/${uid}/create?${ofLocale}${PARAMETER}=${encoded({ from, to })}`;
};

/** The fields of a form that are filled, with their values: those that are empty. */
export const changesOf = (
  type: RedirectType,
  { from, to }: Values,
  form: Record<string, unknown>,
): [field: string, value: string][] => {
  const changes: [string, string][] = [[type.from, from]];
  if (type.to !== null && to !== null) changes.push([type.to, to]);
  return changes.filter(([field]) => [undefined, null, ''].includes(form[field] as never));
};
