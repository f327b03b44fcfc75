const FAILURES_UNTIL_OPEN = 3;
const OPEN_MS = 5_000;

/**
 * A circuit breaker: after three failures in a row it stays open for five seconds, and then lets
 * one request through to see whether the service is back.
 */
export const createBreaker = (now: () => number = Date.now) => {
  let failures = 0;
  let openUntil = 0;

  return {
    /** Whether a request may be sent. Of those that come after the pause, only the first one may. */
    allows(): boolean {
      if (failures < FAILURES_UNTIL_OPEN) return true;
      if (now() < openUntil) return false;
      openUntil = now() + OPEN_MS;
      return true;
    },
    succeeded(): void {
      failures = 0;
    },
    failed(): void {
      failures += 1;
      if (failures >= FAILURES_UNTIL_OPEN) openUntil = now() + OPEN_MS;
    },
  };
};

export type Breaker = ReturnType<typeof createBreaker>;
