import { errors } from '@strapi/utils';
import type { SettingsInput } from '../../../shared/settings';
import { parseAddress } from '../service/address';

const SITE = /^[A-Za-z0-9._-]{0,64}$/;
const MAX_TYPES = 1_000;
const MAX_TOKEN = 4_096;

const refuse = (name: string): never => {
  throw new errors.ValidationError(`\`${name}\` is invalid`);
};

const record = (name: string, value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : refuse(name);

const site = (name: string, value: unknown): string =>
  typeof value === 'string' && SITE.test(value) ? value : refuse(name);

/** A header must be able to carry it. */
const token = (name: string, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  const isToken = typeof value === 'string' && value.length <= MAX_TOKEN && /^[\x21-\x7e]*$/.test(value);
  return isToken ? value : refuse(name);
};

const sites = (value: unknown): Record<string, string> => {
  const entries = Object.entries(record('sites', value));
  if (entries.length > MAX_TYPES) refuse('sites');
  return Object.fromEntries(entries.map(([uid, key]) => [uid, site('sites', key)]).filter(([, key]) => key));
};

/** What the settings page sends; a 400 names the first member that is wrong. */
export const settingsInput = (body: unknown): SettingsInput => {
  const given = record('body', body);
  const url = given.url === '' ? '' : parseAddress(given.url);
  const parts = record('parts', given.parts);
  const part = (name: string): boolean =>
    typeof parts[name] === 'boolean' ? (parts[name] as boolean) : refuse(`parts.${name}`);
  return {
    url: url ?? refuse('url'),
    draftToken: token('draftToken', given.draftToken),
    validateToken: token('validateToken', given.validateToken),
    site: site('site', given.site),
    sites: sites(given.sites),
    parts: { panel: part('panel'), column: part('column'), widget: part('widget') },
  };
};
