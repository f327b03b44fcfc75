/** Entries of the usual size. */
const MAX_ENTRIES = 1_000;

interface Entry<T> {
  value: Promise<T>;
  until: number;
}

interface Options {
  now?: () => number;
  max?: number;
}

/**
 * Keeps at most `max` results for `lifetime` milliseconds, and lets concurrent calls with one key share
 * one call. A rejected call is not kept, nor a result that `isKept` leaves out.
 */
export const createCache = <T>(lifetime: number, { now = Date.now, max = MAX_ENTRIES }: Options = {}) => {
  const entries = new Map<string, Entry<T>>();

  return {
    get(key: string, load: () => Promise<T>, isKept: (result: T) => boolean = () => true): Promise<T> {
      const known = entries.get(key);
      if (known && now() < known.until) return known.value;
      const value = load();
      const entry = { value, until: Infinity };
      entries.delete(key);
      entries.set(key, entry);
      const oldest = entries.keys().next();
      if (entries.size > max && !oldest.done) entries.delete(oldest.value);
      const drop = () => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      value.then((result) => {
        if (isKept(result)) entry.until = now() + lifetime;
        else drop();
      }, drop);
      return value;
    },
    clear(): void {
      entries.clear();
    },
  };
};

export type Cache<T> = ReturnType<typeof createCache<T>>;
