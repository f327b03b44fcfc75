import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';
import type { Site } from '../../../shared/sites';

/** The sites of the settings; null until they are known, and where they are not needed. */
export const useSites = (isNeeded = true): Site[] | null => {
  const [sites, setSites] = React.useState<Site[] | null>(null);
  React.useEffect(() => {
    if (!isNeeded) return undefined;
    const abort = new AbortController();
    getFetchClient()
      .get<Site[]>('/frontend-map/sites', { signal: abort.signal })
      .then(({ data }) => setSites(data))
      .catch(() => !abort.signal.aborted && setSites([]));
    return () => abort.abort();
  }, [isNeeded]);
  return sites;
};
