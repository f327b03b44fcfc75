/** Bounds the time that is spent waiting for the service, over all steps of a call. */
import { FrontendMapError } from "../error.js";
import { unlessAborted } from "./abort.js";

export class Deadline {
  readonly #controller = new AbortController();
  #leftMs: number;
  #waitingSince: number | null = null;

  /** @param caller the signal with which the caller gives up. */
  constructor(
    private readonly timeoutMs: number,
    private readonly caller?: AbortSignal | undefined,
  ) {
    this.#leftMs = timeoutMs;
  }

  /** Aborted when the time is over, and by `abort`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds until the time is over, within a `wait` too. */
  get leftMs(): number {
    const since = this.#waitingSince;
    return since === null ? this.#leftMs : this.#leftMs - (performance.now() - since);
  }

  /** Ends what is in flight, and frees its connection. */
  abort(): void {
    this.#controller.abort();
  }

  /**
   * The result of `work`, which is one step. The time between steps does not count.
   *
   * @throws FrontendMapError `TimeoutError` when the time is over, also if `work` ignores the signal; the
   *   reason of the caller's signal.
   */
  async wait<T>(work: () => Promise<T>): Promise<T> {
    this.caller?.throwIfAborted();
    this.#waitingSince = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expiry = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const message = `frontend-map: no complete response within ${this.timeoutMs} ms`;
        reject(new FrontendMapError(message, { name: "TimeoutError" }));
        this.abort();
      }, Math.max(this.#leftMs, 0));
    });
    try {
      return await Promise.race([unlessAborted(work(), this.caller), expiry]);
    } catch (error) {
      this.abort();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#leftMs = this.leftMs;
      this.#waitingSince = null;
    }
  }
}
