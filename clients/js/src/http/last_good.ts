/** The last good results, for the time in which the service fails. */

/** As long as the service itself keeps a snapshot (`snapshots.hard_seconds`). */
const MAX_AGE_MS = 24 * 3_600_000;
/** About 64 MiB at most. */
const MAX_CHARACTERS = 32 * 2 ** 20;

/** A result, as JSON: each reader parses its own copy. */
export interface Kept {
  text: string;
  /** When it was received; `performance.now()`. */
  at: number;
}

/** Drops what was received longest ago when it is full. */
export class LastGoodResults {
  readonly #kept = new Map<string, Kept>();
  #characters = 0;
  readonly #maxAnswers: number;
  readonly #maxCharacters: number;

  constructor(maxAnswers: number, maxCharacters = MAX_CHARACTERS) {
    this.#maxAnswers = maxAnswers;
    this.#maxCharacters = maxCharacters;
  }

  get(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || performance.now() - kept.at <= MAX_AGE_MS) return kept;
    this.delete(key);
    return undefined;
  }

  set(key: string, text: string): void {
    this.delete(key);
    if (this.#maxAnswers === 0) return;
    this.#kept.set(key, { text, at: performance.now() });
    this.#characters += key.length + text.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#maxAnswers && this.#characters <= this.#maxCharacters) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#characters -= key.length + kept.text.length;
  }
}
