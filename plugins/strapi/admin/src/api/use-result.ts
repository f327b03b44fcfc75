import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';
import type { Result } from '../../../shared/reports';
import { delayOf, mayPass, type Loaded } from './loaded';

/**
 * Requests a route of the plugin, again when the path or `version` changes, and after a failure that
 * may pass. A response to an earlier path is dropped; meanwhile the one before stays, so that the page
 * does not flicker. The second member tries again at once.
 */
export const useResult = <T>(path: string | null, version = ''): [Loaded<T>, () => void] => {
  const [loaded, setLoaded] = React.useState<{ path: string; value: Loaded<T> } | null>(null);
  const [attempt, setAttempt] = React.useState(0);
  const failures = React.useRef(0);

  React.useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    getFetchClient()
      .get<Result<T>>(`/frontend-map${path}`, { signal: abort.signal })
      .then(({ data }): Loaded<T> => ({ state: 'done', result: data }))
      .catch((): Loaded<T> => ({ state: 'error' }))
      .then((value) => {
        if (abort.signal.aborted) return;
        setLoaded({ path, value });
        if (!mayPass(value)) {
          failures.current = 0;
          return;
        }
        timer = setTimeout(() => setAttempt((last) => last + 1), delayOf(failures.current) * 1_000);
        failures.current += 1;
      });
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [path, version, attempt]);

  const retry = () => {
    failures.current = 0;
    setAttempt((last) => last + 1);
  };
  return [loaded?.path === path ? loaded.value : { state: 'loading' }, retry];
};
