import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';

/** The sites of the settings; null until they are known. */
export const useSites = (): string[] | null => {
  const [sites, setSites] = React.useState<string[] | null>(null);
  React.useEffect(() => {
    const abort = new AbortController();
    getFetchClient()
      .get<string[]>('/frontend-map/sites', { signal: abort.signal })
      .then(({ data }) => setSites(data))
      .catch(() => !abort.signal.aborted && setSites([]));
    return () => abort.abort();
  }, []);
  return sites;
};
