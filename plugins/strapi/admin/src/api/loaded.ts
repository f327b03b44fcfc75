import type { Failure } from '../../../shared/failures';
import type { Result } from '../../../shared/reports';

export type Loaded<T> = { state: 'loading' } | { state: 'error' } | { state: 'done'; result: Result<T> };

/** Failures that may end without a change of the settings. */
const PASSING: readonly Failure[] = ['unreachable', 'timeout', 'busy', 'cms-failed'];

/** Seconds until the next attempt: longer each time, so that many open forms are no load. */
export const delayOf = (attempts: number): number => Math.min(60, 5 * 2 ** attempts);

/** Whether a later attempt may have another outcome. */
export const mayPass = <T>(loaded: Loaded<T>): boolean =>
  loaded.state === 'error' ||
  (loaded.state === 'done' && 'failure' in loaded.result && PASSING.includes(loaded.result.failure));
