/** Fills in the links of a document of Strapi 5, in one batch. */
import type { DocumentRef, DocumentUrl } from "./types.js";

export interface LinkOptions<Uid extends string = string, Locale extends string = string> {
  /** The content type of the document itself, or of the documents of a list. */
  uid?: Uid | undefined;
  /**
   * The content type behind each field that is a relation, at any depth: `{ category:
   * "api::category.category" }`. `{ "blocks.teaser.page": … }` is the field of one component only.
   * A relation to several types says its own in `__type`.
   */
  relations?: Record<string, Uid> | undefined;
  /** For a document that does not say its own, and the relations in it. */
  locale?: Locale | null | undefined;
  /** `url` (default): absolute, right on each host of the site; `path`: without the host. */
  href?: "url" | "path" | undefined;
  /** Ends the call with its reason. */
  signal?: AbortSignal | undefined;
}

/** The same with `href` in each object that is a link: null where the document has no URL, or it is not known. */
export type Linked<T> = T extends readonly (infer Item)[]
  ? Linked<Item>[]
  : T extends object
    ? { [Key in keyof T]: Linked<T[Key]> } & { href?: string | null }
    : T;

type Entry = Record<string, unknown> & { href?: string | null };

/** A copy of `document` with links. @throws FrontendMapError if the URLs are not known. */
export async function links<T>(
  urls: (refs: DocumentRef<string>[], signal: AbortSignal | undefined) => Promise<(DocumentUrl | null)[]>,
  document: T,
  { uid, relations = {}, locale, href = "url", signal }: LinkOptions,
): Promise<Linked<T>> {
  const types = new Map(Object.entries(relations));
  const targets: Entry[] = [];
  const refs: DocumentRef<string>[] = [];

  const copy = (value: unknown, type: string | undefined, around: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => copy(item, type, around));
    if (typeof value !== "object" || value === null) return value;
    const { __component, __type, documentId, locale: said } = value as Entry;
    const own = said ?? around;
    const members = Object.entries(value).map(([key, member]) => {
      const below = types.get(`${__component}.${key}`) ?? types.get(key);
      return [key, copy(member, below, own)];
    });
    // Unlike an assignment, this makes a member of `__proto__`.
    const copied = Object.fromEntries(members) as Entry;
    const linked = type ?? (typeof __type === "string" ? __type : undefined);
    if (linked !== undefined && typeof documentId === "string") {
      targets.push(copied);
      refs.push({ uid: linked, documentId, locale: typeof own === "string" ? own : null });
    }
    return copied;
  };

  const result = copy(document, uid, locale) as Linked<T>;
  const found = await urls(refs, signal);
  targets.forEach((one, at) => (one.href = found[at]?.[href] ?? null));
  return result;
}
