import type { CheckRun } from '../../../shared/check';
import { failureOf } from '../service/client';
import { ServiceFailure } from '../service/failure';
import { linesOf } from '../service/lines';

export interface CheckTarget {
  address: string | null;
  token: string | undefined;
  site: string;
  uid: string;
}

interface Line {
  progress?: { checked?: number; total?: number };
  stopped?: unknown;
  data?: unknown;
}

const NONE: CheckRun = { state: 'none' };

const request = async ({ address, token, site, uid }: CheckTarget): Promise<Response> => {
  if (!address) throw new ServiceFailure('not-configured');
  const query = new URLSearchParams({ site, contentType: uid, validate: 'true' });
  const headers: Record<string, string> = { Accept: 'application/x-ndjson' };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(`${address}/api/build-sitemap?${query}`, { headers, redirect: 'manual' });
  if (response.status === 400) throw new ServiceFailure('unknown-site');
  if (response.status !== 200) throw new ServiceFailure(failureOf(response.status));
  const isLines = response.headers.get('content-type')?.startsWith('application/x-ndjson') ?? false;
  if (!isLines) throw new ServiceFailure('older-version');
  return response;
};

/**
 * Runs of URL checks by site and content type. A run goes on when the page that started it is
 * closed or loaded again; a second start joins the run in progress. `ended` is called after each.
 */
export const createChecks = (ended: () => void = () => undefined) => {
  const runs = new Map<string, CheckRun>();

  const follow = async (key: string, target: CheckTarget): Promise<void> => {
    let last = { checked: 0, total: 0 };
    let isComplete = false;
    for await (const found of linesOf(await request(target))) {
      const { progress, data } = found as Line;
      if (progress) {
        last = { checked: progress.checked ?? 0, total: progress.total ?? 0 };
        runs.set(key, { state: 'running', ...last });
      }
      isComplete ||= data !== undefined;
    }
    if (!isComplete) throw new ServiceFailure('unreachable');
    runs.set(key, { state: 'done', ...last });
  };

  return {
    start(target: CheckTarget): CheckRun {
      const key = keyOf(target);
      const current = runs.get(key);
      if (current?.state === 'running') return current;
      const run: CheckRun = { state: 'running', checked: 0, total: 0 };
      runs.set(key, run);
      follow(key, target)
        .catch((error: unknown) => {
          const failure = error instanceof ServiceFailure ? error.failure : 'unreachable';
          runs.set(key, { state: 'failed', failure });
        })
        .finally(ended);
      return run;
    },
    state: (of: { site: string; uid: string }): CheckRun => runs.get(keyOf(of)) ?? NONE,
  };
};

const keyOf = ({ site, uid }: { site: string; uid: string }): string => JSON.stringify([site, uid]);
