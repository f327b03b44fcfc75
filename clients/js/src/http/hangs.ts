/** Knows whether the service hangs, so that not every visitor waits for the time-out. */
import { FrontendMapError } from "../error.js";

/** How long no request is sent after one that has timed out: a page that sends several waits for one. */
const PAUSE_MS = 1_000;
/** After this, a platform may have forgotten the request that finds out whether the service responds again. */
const PROBE_MS = 5_000;
/** More than time out within a pause. */
const MAX_KEYS = 10_000;

export class Hangs {
  #timeout: FrontendMapError | null = null;
  /** When the last request timed out, of all and by key; `performance.now()`. */
  #at = -Infinity;
  readonly #keys = new Map<string, number>();
  /** When the request began that finds out whether it is over. */
  #probedAt = -Infinity;

  /** A request was late just now, or another one finds out whether it still would be: repeat what is kept. */
  get known(): FrontendMapError | null {
    return performance.now() - this.#probedAt < PROBE_MS ? this.#timeout : this.recent();
  }

  /** The time-out of a request, or of one with this key, that was just now: do not wait for another one. */
  recent(key?: string): FrontendMapError | null {
    const at = key === undefined ? this.#at : (this.#keys.get(key) ?? -Infinity);
    return performance.now() - at < PAUSE_MS ? this.#timeout : null;
  }

  /** A request takes too long for those who have a kept result; it goes on, and finds out whether it is over. */
  isLate(error: FrontendMapError): void {
    this.#timeout = error;
    this.#probedAt = performance.now();
  }

  /** The result of a request, whose end says how the service is. */
  async watch<T>(key: string, request: () => Promise<T>): Promise<T> {
    const now = performance.now();
    if (this.#timeout && now - this.#probedAt >= PROBE_MS) this.#probedAt = now;
    try {
      const result = await request();
      this.#timeout = null;
      return result;
    } catch (error) {
      // A caller who gives up says nothing of the service.
      if (error instanceof FrontendMapError) {
        this.#timeout = error.name === "TimeoutError" ? error : null;
        this.#at = performance.now();
        if (this.#keys.size > MAX_KEYS) this.#keys.clear();
        this.#keys.set(key, this.#at);
      }
      throw error;
    } finally {
      this.#probedAt = -Infinity;
    }
  }
}
