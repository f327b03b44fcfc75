import type { Failure } from './failures';

/** What a test of the settings found; null: that part works. Parts that were not reached are absent. */
export interface ConnectionTest {
  address: Failure | null;
  drafts?: Failure | null;
  reports?: Failure | null;
  site?: Failure | null;
}
