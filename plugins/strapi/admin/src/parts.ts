import { getFetchClient } from '@strapi/strapi/admin';
import type { Parts } from '../../shared/settings';

const KEY = 'frontend-map.parts';
const ALL: Parts = { panel: true, column: true, widget: true };

/** The parts that are on, as of the last request; all of them before the first one. */
export const knownParts = (): Parts => {
  try {
    return { ...ALL, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Parts>) };
  } catch {
    return ALL;
  }
};

let requested: Promise<void> | null = null;

/** Asks once for each load of the admin; without the permission nothing changes. */
export const requestParts = (): Promise<void> =>
  (requested ??= getFetchClient()
    .get<Parts>('/frontend-map/parts')
    .then(({ data }) => localStorage.setItem(KEY, JSON.stringify(data)))
    .catch(() => undefined));

/** For the settings page, which has changed them. */
export const rememberParts = (parts: Parts): void => localStorage.setItem(KEY, JSON.stringify(parts));
