/** Reads results: one request for all callers, and the last good result while the service fails. */
import { FrontendMapError, isOutage } from "../error.js";
import type { LastGood } from "../types.js";
import { unlessAborted } from "./abort.js";
import { Deadline } from "./deadline.js";
import { Hangs } from "./hangs.js";
import { type Kept, LastGoodResults } from "./last_good.js";

/** How one kind of result is read. */
export interface Reading<T> {
  /** Identifies the request. */
  key: string;
  /** Requests of which one that hangs says that the others hang, too. Some wait for the CMS, others do not. */
  kind: "paths" | "drafts" | "urls";
  /** Sends it. With `urgent` there is a last good result, so that it does not wait to retry. */
  request: (urgent: boolean, signal: AbortSignal) => Promise<string>;
  /** With it this caller gives up; the others go on. */
  signal: AbortSignal | undefined;
  /** @throws FrontendMapError if the text is not a result. */
  decode: (text: string) => T;
  /** Whether this result may be repeated later. */
  keeps: (result: T) => boolean;
  /** The key of the page to which this result redirects; null if it is no redirect. */
  leadsTo: (result: T) => string | null;
}

/** How long a caller with a kept result waits for a new one: pages send several requests, one after another. */
const PATIENCE_MS = 500;

/** How often a fault of the settings is in the log. Milliseconds. */
const LOG_MS = 60_000;

/** Those of Next.js: the bundles of its proxy and of its pages have a module each, in one process. */
const SHARED = Symbol.for("frontend-map-client");
type Shared = { [SHARED]?: Map<string, Reads> };

/** A request, and how many callers wait for it. */
interface Flight {
  text: Promise<string>;
  callers: number;
  /** Ends it where no caller waits any more. */
  controller: AbortController;
}

export class Reads {
  readonly #flights = new Map<string, Flight>();
  readonly #kept: LastGoodResults;
  readonly #shares: boolean;
  #loggedAt = -Infinity;
  readonly #hangs = { paths: new Hangs(), drafts: new Hangs(), urls: new Hangs() };

  /**
   * `shares`: whether callers share requests in flight. Next.js ties a request to the page that it
   * renders, with its tags and its lifetime.
   */
  constructor(lastGood: number, shares: boolean) {
    this.#shares = shares;
    this.#kept = new LastGoodResults(lastGood);
  }

  /** Those of all clients of this process with the same `key`, for Next.js. */
  static shared(key: string, lastGood: number): Reads {
    const all = ((globalThis as Shared)[SHARED] ??= new Map());
    const reads = all.get(key) ?? new Reads(lastGood, false);
    all.set(key, reads);
    return reads;
  }

  /** @throws FrontendMapError without a result, new or kept. */
  async read<T extends object>(reading: Reading<T>): Promise<T & { lastGood?: LastGood }> {
    const { key, kind, signal, decode } = reading;
    signal?.throwIfAborted();
    const kept = this.#kept.get(key);
    const hangs = this.#hangs[kind];
    // Paths are resolved from memory: while they hang, so does everything else.
    const { paths } = this.#hangs;
    const known = hangs.known ?? paths.known;
    if (kept && known) return marked(decode(kept.text), kept, known);
    // Another path may have lost its request alone.
    const recent = hangs.recent(key) ?? (kind === "paths" ? null : paths.recent());
    if (recent) throw recent;
    const read = this.#read(reading, kept !== undefined);
    if (!kept) return read;
    const deadline = new Deadline(PATIENCE_MS);
    try {
      return await deadline.wait(() => read);
    } catch (error) {
      if (!(error instanceof FrontendMapError)) throw error;
      // The request goes on, for those who come later.
      if (deadline.leftMs <= 0) hangs.isLate(error);
      this.log(error);
      return marked(decode(kept.text), kept, error);
    }
  }

  /** A new result, which is kept. */
  async #read<T extends object>({ key, kind, request, signal, decode, keeps, leadsTo }: Reading<T>, urgent: boolean): Promise<T> {
    const hangs = this.#hangs[kind];
    const text = await this.#shared(key, signal, (all) => hangs.watch(key, () => request(urgent, all)));
    const result = decode(text);
    const target = leadsTo(result);
    const before = target && this.#kept.get(target);
    // There is a page at the target now: with a redirect from before, visitors would be sent in a circle.
    if (before && leadsTo(decode(before.text))) this.#kept.delete(target);
    if (keeps(result)) this.#kept.set(key, text);
    else this.#kept.delete(key);
    return result;
  }

  /** An outage passes by itself; a wrong address, site or token does not, and pages hide it. */
  log(error: FrontendMapError): void {
    const { message } = error;
    if (isOutage(error) || performance.now() - this.#loggedAt < LOG_MS) return;
    this.#loggedAt = performance.now();
    console.error(message);
  }

  async #shared(key: string, signal: AbortSignal | undefined, request: (all: AbortSignal) => Promise<string>): Promise<string> {
    const running = this.#shares ? this.#flights.get(key) : undefined;
    const controller = running?.controller ?? new AbortController();
    const flight = running ?? { controller, text: request(controller.signal), callers: 0 };
    this.#flights.set(key, flight);
    flight.callers += 1;
    try {
      return await unlessAborted(flight.text, signal);
    } finally {
      flight.callers -= 1;
      if (flight.callers === 0) {
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        controller.abort();
      }
    }
  }
}

function marked<T extends object>(result: T, { at }: Kept, error: FrontendMapError): T & { lastGood: LastGood } {
  const ageSeconds = Math.floor((performance.now() - at) / 1000);
  // Not enumerable: frameworks serialize results for the browser, and refuse an instance of a class.
  const lastGood = Object.defineProperty({ ageSeconds }, "error", { value: error }) as LastGood;
  return { ...result, lastGood };
}
