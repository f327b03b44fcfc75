import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';
import type { Parts, ShownParts } from '../../shared/settings';

const KEY = 'frontend-map.parts';
const ALL: ShownParts = { panel: true, column: true, widget: true, contentTypes: null };

/** The parts that are on as of an earlier request: Strapi asks for columns before there is a response. */
export const lastParts = (): ShownParts => {
  try {
    return { ...ALL, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<ShownParts>) };
  } catch {
    return ALL;
  }
};

/** Whether a content type has a rule, as far as that is known. */
export const hasRule = (parts: ShownParts | null, uid: string): boolean =>
  parts?.contentTypes?.includes(uid) ?? true;

let requested: Promise<ShownParts> | null = null;

const remember = (parts: ShownParts): ShownParts => {
  localStorage.setItem(KEY, JSON.stringify(parts));
  return parts;
};

/** For the settings page, which has changed them: rules may be those of another service. */
export const rememberParts = (parts: Parts): void => {
  remember({ ...parts, contentTypes: null });
  requested = null;
};

/** One request for each load of the admin panel; all parts where that fails. */
export const requestParts = (): Promise<ShownParts> =>
  (requested ??= getFetchClient()
    .get<ShownParts>('/frontend-map/parts')
    .then(({ data }) => remember(data))
    .catch(() => ALL));

/** The parts that are on; null until they are known, and without the permission to see URLs. */
export const useParts = (isPermitted: boolean): ShownParts | null => {
  const [parts, setParts] = React.useState<ShownParts | null>(null);
  React.useEffect(() => {
    let isMounted = true;
    if (isPermitted) void requestParts().then((found) => isMounted && setParts(found));
    return () => {
      isMounted = false;
    };
  }, [isPermitted]);
  return isPermitted ? parts : null;
};
