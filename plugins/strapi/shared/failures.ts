/** Why there is no response of the service that can be used: the only words that leave the server. */
export const FAILURES = [
  'not-configured',
  'unreachable',
  'timeout',
  'redirected',
  'not-the-service',
  'older-version',
  'wrong-token',
  'unknown-site',
  'cms-failed',
  'busy',
] as const;

export type Failure = (typeof FAILURES)[number];
