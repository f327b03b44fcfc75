import type { Failure } from '../../../shared/failures';
import type { Result } from '../../../shared/reports';

export type Loaded<T> = { state: 'loading' } | { state: 'error' } | { state: 'done'; result: Result<T> };

/** Failures that may end without a change of the settings. */
const PASSING: readonly Failure[] = ['unreachable', 'timeout', 'busy', 'cms-failed'];

/** Seconds until the next attempt: longer each time, so that many open forms are no load. */
export const delayOf = (attempts: number): number => Math.min(60, 5 * 2 ** attempts);

/** Why there is nothing, or why a part is missing. */
export const failureOf = <T>(loaded: Loaded<T>): Failure | null => {
  if (loaded.state !== 'done') return null;
  return 'failure' in loaded.result ? loaded.result.failure : (loaded.result.missing ?? null);
};

/** Whether a later attempt may have another outcome. */
export const mayPass = <T>(loaded: Loaded<T>): boolean => {
  const failure = failureOf(loaded);
  return loaded.state === 'error' || (failure !== null && PASSING.includes(failure));
};
