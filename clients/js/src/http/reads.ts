/** Reads results: one request for all callers, and the last good result while the service fails. */
import { type FrontendMapError, isOutage } from "../error.js";
import type { LastGood } from "../types.js";
import { Hangs } from "./hangs.js";
import { type Kept, LastGoodResults } from "./last_good.js";

/** How one kind of result is read. */
export interface Reading<T> {
  /** Identifies the request. */
  key: string;
  /** Requests of which one that hangs says that the others hang, too. Some wait for the CMS, others do not. */
  kind: "paths" | "drafts" | "urls";
  /** Sends it. With `urgent` there is a last good result, so that it does not wait to retry. */
  request: (urgent: boolean) => Promise<string>;
  /** @throws FrontendMapError if the text is not a result. */
  decode: (text: string) => T;
  /** Whether this result may be repeated later. */
  keeps: (result: T) => boolean;
}

export class Reads {
  readonly #flights = new Map<string, Promise<string>>();
  readonly #kept: LastGoodResults;
  readonly #hangs = { paths: new Hangs(), drafts: new Hangs(), urls: new Hangs() };

  /**
   * `shares`: whether callers share requests in flight. Next.js ties a request to the page that it
   * renders, with its tags and its lifetime.
   */
  constructor(lastGood: number, private readonly shares: boolean) {
    this.#kept = new LastGoodResults(lastGood);
  }

  /** @throws FrontendMapError without a result, new or kept. */
  async read<T extends object>(reading: Reading<T>): Promise<T & { lastGood?: LastGood }> {
    const { key, kind, request, decode, keeps } = reading;
    const kept = this.#kept.get(key);
    const hangs = this.#hangs[kind];
    if (kept && hangs.known) return marked(decode(kept.text), kept, hangs.known);
    try {
      const text = await this.#shared(key, () => hangs.watch(() => request(kept !== undefined)));
      const result = decode(text);
      if (keeps(result)) this.#kept.set(key, text);
      else this.#kept.delete(key);
      return result;
    } catch (error) {
      if (kept && isOutage(error)) return marked(decode(kept.text), kept, error);
      throw error;
    }
  }

  #shared(key: string, request: () => Promise<string>): Promise<string> {
    const running = this.shares ? this.#flights.get(key) : undefined;
    if (running) return running;
    const flight = request().finally(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    this.#flights.set(key, flight);
    return flight;
  }
}

function marked<T extends object>(result: T, { at }: Kept, error: FrontendMapError): T & { lastGood: LastGood } {
  const ageSeconds = Math.floor((performance.now() - at) / 1000);
  const lastGood = { ageSeconds, error };
  // Frameworks serialize results for the browser, and refuse an instance of a class.
  Object.defineProperty(lastGood, "error", { enumerable: false });
  return { ...result, lastGood };
}
