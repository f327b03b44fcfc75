/** Reads answers: one request for all callers, and the last good answer while the service fails. */
import { type FrontendMapError, isOutage } from "../error.js";
import type { LastGood } from "../types.js";
import { Hangs } from "./hangs.js";
import { type Kept, LastGoodAnswers } from "./last_good.js";

/** How one kind of answer is read. */
export interface Reading<T> {
  /** Names the question. */
  key: string;
  /** Sends it. With `urgent` there is a last good answer, so that it does not wait to retry. */
  request: (urgent: boolean) => Promise<string>;
  /** @throws FrontendMapError if the text is not an answer. */
  decode: (text: string) => T;
  /** Whether this answer may be repeated later. */
  keeps: (answer: T) => boolean;
}

export class Reads {
  readonly #flights = new Map<string, Promise<string>>();
  readonly #kept: LastGoodAnswers;
  readonly #hangs = new Hangs();

  /**
   * `shares`: whether callers share requests in flight. Next.js ties a request to the page that it
   * renders, with its tags and its lifetime.
   */
  constructor(lastGood: number, private readonly shares: boolean) {
    this.#kept = new LastGoodAnswers(lastGood);
  }

  /** @throws FrontendMapError without an answer, new or kept. */
  async read<T extends object>(reading: Reading<T>): Promise<T & { lastGood?: LastGood }> {
    const { key, request, decode, keeps } = reading;
    const kept = this.#kept.get(key);
    const hangs = this.#hangs.known;
    if (kept && hangs) return marked(decode(kept.text), kept, hangs);
    try {
      const text = await this.#shared(key, () => this.#hangs.watch(() => request(kept !== undefined)));
      const answer = decode(text);
      if (keeps(answer)) this.#kept.set(key, text);
      else this.#kept.delete(key);
      return answer;
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

function marked<T extends object>(answer: T, { at }: Kept, error: FrontendMapError): T & { lastGood: LastGood } {
  const ageSeconds = Math.floor((performance.now() - at) / 1000);
  return { ...answer, lastGood: { ageSeconds, error } };
}
