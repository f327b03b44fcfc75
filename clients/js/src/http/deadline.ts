/** Bounds the time that is spent waiting for the service, over all steps of a call. */
import { FrontendMapError } from "../error.js";
import { unlessAborted } from "./abort.js";

/** In how many steps the time passes. */
const STEPS = 4;

export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  #leftMs: number;
  /** When the time of this step is over; `performance.now()`. */
  #until = 0;

  /** @param caller the signal with which the caller gives up. */
  constructor(timeoutMs: number, caller?: AbortSignal | undefined) {
    this.#leftMs = timeoutMs;
    this.#caller = caller;
  }

  /** Aborted when the time is over, and by `abort`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds until the time is over, within a `wait` or at its end. */
  get leftMs(): number {
    return this.#until - performance.now();
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
    this.#caller?.throwIfAborted();
    this.#until = performance.now() + this.#leftMs;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const expiry = new Promise<never>((_, reject) => {
      const stepMs = Math.max(this.#leftMs, 0) / STEPS;
      // What has arrived while the process was busy itself is read in the next step: where the last one
      // took too long, there is one more.
      const step = (left: number) => {
        const began = performance.now();
        timer = setTimeout(() => {
          const wasBusy = performance.now() - began > 2 * stepMs;
          if (left > 1 || (left === 1 && wasBusy)) {
            step(left - 1);
          } else {
            reject(new FrontendMapError("frontend-map: no complete response in time", { name: "TimeoutError" }));
            this.abort();
          }
        }, stepMs);
      };
      step(STEPS);
    });
    try {
      return await Promise.race([unlessAborted(work(), this.#caller), expiry]);
    } catch (error) {
      this.abort();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#leftMs = this.leftMs;
    }
  }
}
