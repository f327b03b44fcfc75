/** The shapes of results, by the service's own description and the types of the settings. */
import type { FrontendMapError } from "./error.js";
import type { components } from "./openapi.js";

/**
 * The sites of the service's settings, to be declared by the frontend: then a `switch` over content
 * types is checked by the compiler. `frontend-map types` writes them.
 *
 * ```ts
 * declare module "frontend-map-client" {
 *   interface Sites {
 *     main: {
 *       locales: "en" | "de";
 *       pages: "home" | "search";
 *       contentTypes: {
 *         "api::article.article": { "/{locale}/articles/{slug}": { locale: string; slug: string } };
 *       };
 *     };
 *   }
 * }
 * ```
 */
export interface Sites {}

type Declared = keyof Sites & string;
type AnySite = { locales: string; pages: string; contentTypes: Record<string, Record<string, Record<string, string>>> };
type Declaration<Site> = Site extends keyof Sites ? Sites[Site] : AnySite;

/** The key of a site: any, until sites are declared. */
export type SiteKey = [Declared] extends [never] ? string : Declared;
/** The locales of a site. */
export type Locale<Site> = Declaration<Site> extends { locales: infer Locales } ? Locales & string : string;
/** The names of the pages of a site outside the CMS. */
export type PageName<Site> = Declaration<Site> extends { pages: infer Names } ? Names & string : string;
type ContentTypes<Site> = Declaration<Site> extends { contentTypes: infer Types } ? Types : never;
/** The UIDs of the content types of a site. */
export type ContentType<Site> = keyof ContentTypes<Site> & string;
/** The templates of a content type. */
type Template<Site, Uid extends ContentType<Site>> = keyof ContentTypes<Site>[Uid] & string;

/** The rule that matches a path, with the values of its placeholders. */
export type Match<Site, Uid extends ContentType<Site> = ContentType<Site>> = DocumentPage<Site, Uid>["matched"];

type Schemas = components["schemas"];

/** A result from before the service failed. */
export interface LastGood {
  /** Seconds since the service gave this result. */
  ageSeconds: number;
  /** Why there is no newer one. Not enumerable, so that the result can be serialized. */
  error: FrontendMapError;
}

/** Members of every result of `resolve`. */
interface Resolved {
  site: string;
  /** As requested, without query and fragment. */
  pathname: string;
  resolvedBy: Schemas["ResolvedBy"];
  /** The document in the CMS's own API: `/api/articles/<documentId>?locale=de`. */
  resource: string | null;
  /** RFC 3339. */
  lastModified: string | null;
  /** The documents and pages above this one, the topmost first. */
  breadcrumbs: Schemas["Breadcrumbs"];
  /** Absolute URLs of all versions by `hreflang`, and `x-default`. */
  alternates: Record<string, string>;
  /** Only while the service fails: this is the last good result. */
  lastGood?: LastGood;
}

/** Where to redirect; `to` has a query only where a redirect of the CMS has one. */
export type RedirectTarget = Schemas["Redirection"];

/** A document has this path: one member for each content type and each of its templates. */
export type DocumentPage<Site = SiteKey, Uid extends ContentType<Site> = ContentType<Site>> = {
  [One in Uid]: { [Rule in Template<Site, One>]: DocumentOf<Site, One, Rule> }[Template<Site, One>];
}[Uid];

interface DocumentOf<Site, Uid extends ContentType<Site>, Rule extends Template<Site, Uid>> extends Resolved {
  kind: "document";
  /** That of `matched`. */
  contentType: Uid;
  locale: Locale<Site>;
  matched: { collectionType: Uid; rule: Rule; params: ContentTypes<Site>[Uid][Rule] };
  documentId: string;
  canonicalPath: string;
  /** Null without a base URL. */
  canonicalUrl: string | null;
  /** If false, redirect to `redirect`. */
  isCanonical: boolean;
  redirect?: RedirectTarget;
}

/** A page outside the CMS has this path. */
export interface PageOutside<Site = SiteKey> extends Resolved {
  kind: "page";
  contentType?: never;
  /** Its name in the service's settings. */
  page: PageName<Site>;
  locale: Locale<Site>;
  matched: null;
  documentId: null;
  canonicalPath: string | null;
  canonicalUrl: string | null;
  isCanonical: boolean | null;
  redirect?: RedirectTarget;
}

/** A document had this path before, or a redirect of the CMS has it: redirect. */
export interface Moved<Site = SiteKey> extends Resolved {
  kind: "redirect";
  contentType?: never;
  locale: Locale<Site>;
  matched: Match<Site> | null;
  documentId: null;
  redirect: RedirectTarget;
}

/** There is no page at this path. */
export interface NoPage<Site = SiteKey> extends Resolved {
  kind: "none";
  contentType?: never;
  /** Null if no rule matches. */
  locale: Locale<Site> | null;
  matched: Match<Site> | null;
  documentId: null;
  /** When a document that is not published now had the path; with the status 410 if a redirect of the CMS says so. */
  gone?: Schemas["Gone"];
}

/** What is at a path, by `kind`. */
export type Resolution<Site = SiteKey> =
  | DocumentPage<Site>
  | PageOutside<Site>
  | Moved<Site>
  | NoPage<Site>;

/** A version of a document. */
export interface DocumentRef<Site = SiteKey> {
  /** The UID of its content type. */
  uid: ContentType<Site>;
  documentId: string;
  /** By default the site's first. */
  locale?: Locale<Site> | null | undefined;
}

/** The URL of a document, or why it has none. */
export interface DocumentUrl {
  uid: string | null;
  documentId: string | null;
  locale: string | null;
  /** Absolute; null for the `reason`. */
  url: string | null;
  path: string | null;
  /** Such as `no_version`, `slug_missing`; docs/urls.md of the service lists them. */
  reason?: string;
  /** The template that the reason is about. */
  rule?: string;
  /** Only while the service fails: this is the last good result. */
  lastGood?: LastGood;
}

/** A public page: a document, with the template of its path, or a page outside the CMS. */
export type Page<Site = SiteKey> = DocumentRow<Site> | PageRow<Site>;

interface Row<Site> extends Pick<Schemas["Page"], "path" | "url" | "lastModified" | "listed"> {
  locale: Locale<Site>;
}

type DocumentRow<Site> = {
  [Uid in ContentType<Site>]: {
    [Rule in Template<Site, Uid>]: Row<Site> & {
      contentType: Uid;
      documentId: string;
      rule: Rule;
      params: ContentTypes<Site>[Uid][Rule];
      page?: never;
    };
  }[Template<Site, Uid>];
}[ContentType<Site>];

interface PageRow<Site> extends Row<Site> {
  /** Its name in the service's settings. */
  page: PageName<Site>;
  contentType?: never;
  documentId?: never;
  rule?: never;
  params?: never;
}
