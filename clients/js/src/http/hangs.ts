/** Knows whether the service hangs, so that not every visitor waits for the time-out. */
import { FrontendMapError } from "../error.js";

export class Hangs {
  #timeout: FrontendMapError | null = null;
  #probing = false;

  /** The time-out of an earlier request, while another one finds out whether it is over. */
  get known(): FrontendMapError | null {
    return this.#probing ? this.#timeout : null;
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
      const timedOut = error instanceof FrontendMapError && error.name === "TimeoutError";
      this.#timeout = timedOut ? error : null;
      throw error;
    } finally {
      if (isProbe) this.#probing = false;
    }
  }
}
