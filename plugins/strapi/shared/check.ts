import type { Failure } from './failures';

/** A run of URL checks that this Strapi has started. */
export type CheckRun =
  | { state: 'none' }
  | { state: 'running' | 'done'; checked: number; total: number }
  | { state: 'failed'; failure: Failure };
