/** Knows whether the service hangs, so that not every visitor waits for the time-out. */
import { FrontendMapError } from "../error.js";

/** How long no request is sent after one that has timed out: a page that sends several waits for one. */
const PAUSE_MS = 1_000;

export class Hangs {
  #timeout: FrontendMapError | null = null;
  /** When it happened; `performance.now()`. */
  #at = 0;
  #probing = false;

  /** The time-out of an earlier request that was just now, or while another one finds out whether it is over. */
  get known(): FrontendMapError | null {
    return this.#probing ? this.#timeout : this.recent;
  }

  /** The time-out of a request that was just now. */
  get recent(): FrontendMapError | null {
    return performance.now() - this.#at < PAUSE_MS ? this.#timeout : null;
  }

  /** The result of a request, whose end says how the service is. */
  async watch<T>(request: () => Promise<T>): Promise<T> {
    const isProbe = this.#timeout !== null && !this.#probing;
    if (isProbe) this.#probing = true;
    try {
      const result = await request();
      this.#timeout = null;
      return result;
    } catch (error) {
      // A caller who gives up says nothing of the service.
      if (error instanceof FrontendMapError) {
        this.#timeout = error.name === "TimeoutError" ? error : null;
        this.#at = performance.now();
      }
      throw error;
    } finally {
      if (isProbe) this.#probing = false;
    }
  }
}
