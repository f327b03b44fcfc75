import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';
import type { CheckRun } from '../../../shared/check';

const POLL_MS = 1_000;

/**
 * The run of URL checks of a content type. The run is kept by the server, so a page that is loaded
 * again shows the one in progress.
 */
export const useCheck = (site: string, uid: string, onDone: () => void) => {
  const [run, setRun] = React.useState<CheckRun>({ state: 'none' });
  const path = uid && `/frontend-map/check?${new URLSearchParams({ site, uid })}`;
  const done = React.useRef(onDone);
  done.current = onDone;

  React.useEffect(() => {
    setRun({ state: 'none' });
    if (!path) return undefined;
    const abort = new AbortController();
    getFetchClient()
      .get<CheckRun>(path, { signal: abort.signal })
      .then(({ data }) => data.state === 'running' && setRun(data))
      .catch(() => undefined);
    return () => abort.abort();
  }, [path]);

  React.useEffect(() => {
    if (run.state !== 'running' || !path) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      getFetchClient()
        .get<CheckRun>(path, { signal: abort.signal })
        .then(({ data }) => {
          setRun(data);
          if (data.state !== 'running') done.current();
        })
        .catch(() => !abort.signal.aborted && setRun({ state: 'failed', failure: 'unreachable' }));
    }, POLL_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [run, path]);

  const start = async () => {
    const { data } = await getFetchClient()
      .post<CheckRun>(path)
      .catch((): { data: CheckRun } => ({ data: { state: 'failed', failure: 'unreachable' } }));
    setRun(data);
  };
  return { run, start };
};
