import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';
import type { Result } from '../../../shared/reports';

export type Loaded<T> = { state: 'loading' } | { state: 'error' } | { state: 'done'; result: Result<T> };

/**
 * Requests a route of the plugin, again when the path or `version` changes. A response to an earlier
 * path is dropped; meanwhile the one before stays, so that the page does not flicker.
 */
export const useResult = <T>(path: string | null, version = ''): Loaded<T> => {
  const [loaded, setLoaded] = React.useState<{ path: string; value: Loaded<T> } | null>(null);

  React.useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    getFetchClient()
      .get<Result<T>>(`/frontend-map${path}`, { signal: abort.signal })
      .then(({ data }): Loaded<T> => ({ state: 'done', result: data }))
      .catch((): Loaded<T> => ({ state: 'error' }))
      .then((value) => {
        if (!abort.signal.aborted) setLoaded({ path, value });
      });
    return () => abort.abort();
  }, [path, version]);

  return loaded?.path === path ? loaded.value : { state: 'loading' };
};
