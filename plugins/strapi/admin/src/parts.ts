import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';
import type { Parts } from '../../shared/settings';

const KEY = 'frontend-map.parts';
const ALL: Parts = { panel: true, column: true, widget: true };

/** The parts that are on as of an earlier request: Strapi asks for columns before there is a response. */
export const lastParts = (): Parts => {
  try {
    return { ...ALL, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Parts>) };
  } catch {
    return ALL;
  }
};

let requested: Promise<Parts> | null = null;

/** For the settings page, which has changed them. */
export const rememberParts = (parts: Parts): void => {
  localStorage.setItem(KEY, JSON.stringify(parts));
  requested = Promise.resolve(parts);
};

/** One request for each load of the admin panel; all parts where that fails. */
export const requestParts = (): Promise<Parts> =>
  (requested ??= getFetchClient()
    .get<Parts>('/frontend-map/parts')
    .then(({ data }) => {
      localStorage.setItem(KEY, JSON.stringify(data));
      return data;
    })
    .catch(() => ALL));

/** The parts that are on; null until they are known, and without the permission to see URLs. */
export const useParts = (isPermitted: boolean): Parts | null => {
  const [parts, setParts] = React.useState<Parts | null>(null);
  React.useEffect(() => {
    let isMounted = true;
    if (isPermitted) void requestParts().then((found) => isMounted && setParts(found));
    return () => {
      isMounted = false;
    };
  }, [isPermitted]);
  return isPermitted ? parts : null;
};
