import type { Failure } from './failures';

/** A related entry that a URL depends on. */
export interface Related {
  uid: string;
  documentId: string;
  isSingle: boolean;
  /** If its content type has a field for it. */
  title?: string;
  /** The relations that lead to it: `category`, or `category.department`. */
  path: string;
  /** `in-other-locales`: published, but not in the locale of the document. */
  state: 'published' | 'in-other-locales' | 'draft';
  /** Whether the entry is at fault as a whole, and not one of its fields. */
  isAtFault: boolean;
}

/** A version that owns a path. */
export interface Owner {
  contentType: string;
  documentId: string;
  locale: string;
}

/** The same with what a link to it needs; `title` if its content type has a field for it. */
export interface PathOwner extends Owner {
  isSingle: boolean;
  title?: string;
}

/** Another document owns the path, so that the URL opens that one. Null: the user may not read it. */
export interface Shared {
  owner?: PathOwner | null;
}

export interface Link extends Shared {
  url: string;
  path: string;
}

/** A reason of the service, with what an editor reads of it. */
export interface Reason {
  reason: string;
  /** The names that forms show for the fields in the reason and in `related.path`, by their keys. */
  labels?: Record<string, string>;
  /** Where a related entry or a value of it is at fault, and the user may read that entry. */
  related?: Related;
}

/** Why a version has no URL: `reason` and `rule` of the service. */
export interface NoLink extends Reason {
  rule: string | null;
}

export type Address = Link | NoLink;

/** What the last run of URL checks found for a version. */
export interface Check {
  at: string;
  /** Whether the version still has the URL that was checked. */
  isCurrent: boolean;
  status: number | null;
  ok: boolean;
  reason?: string;
}

/** What the document has in another language than the open one. */
export interface Language {
  locale: string;
  address: Address;
}

/** Pages of other entries; `more`: there may be others, which are not known. */
export interface Pages {
  count: number;
  more: boolean;
}

/** A page of another entry that moves along. */
export interface MovedPage {
  from: string;
  to: string;
}

/** What else has the path that a version would get. */
export interface Conflict {
  /** Which of both visitors would see. */
  wins: 'this' | 'other' | 'unknown';
  /** The other entry; null: the user may not read it. Absent: it is none. */
  owner?: PathOwner | null;
  /** The name of a page that is not in Strapi. */
  page?: string;
}

/** A redirect in Strapi. */
export interface PathRedirect {
  /** Where it leads; null: the page is gone. */
  to: string | null;
  /** Whether it comes before a page. */
  force: boolean;
}

/** What an action would do to public URLs. */
export interface Effect {
  conflict: Conflict | null;
  /** The redirect in Strapi at the path that the version has then, or leaves. */
  redirect: PathRedirect | null;
  /** `redirect`: whether a redirect in Strapi decides where the old path leads. */
  moves: { from: string; to: string; redirects: boolean; redirect: boolean } | null;
  /** The pages that move along. */
  dependents: Pages;
  /** Whether paths of pages that move will redirect. */
  redirects: boolean;
  /** The pages that would not be found any more, that of the version among them. */
  gone: Pages;
  /** The relations to entries that are not published. */
  unpublished: string[];
}

/** What the next click would do. */
export interface Before {
  /** Whether the version has a page now. */
  isPublished: boolean;
  /** The first of the pages that move along with a publication, which the admin may read. */
  moving: MovedPage[];
  publish: Effect;
  unpublish: Effect;
  delete: Effect;
}

export interface DocumentReport {
  /** Null: the version is not published. */
  published: Address | null;
  /** The URL after the next publication; null where it is the published one. */
  draft: Address | null;
  languages: Language[];
  /** Paths that redirect to this document. */
  formerPaths: string[];
  check: Check | null;
  /** Null: there is no draft, or the service does not show drafts. */
  before: Before | null;
}

/** A report, and why a part of it is missing; or the reason why there is none. */
export type Result<T> = { report: T; missing?: Failure } | { failure: Failure };

/** A page of Strapi's list has at most so many rows, and one request asks for at most so many. */
export const MAX_ROWS = 100;

/** One row of a list: its published URL, or why it has none. */
export type RowReport = ({ url: string } & Shared) | Reason;

export const hasLink = (address: Address): address is Link => 'url' in address;

/** The content type has no rule, so that its documents have no URL anywhere. */
export const isWithoutRule = (address: Address | null): boolean =>
  address !== null && 'reason' in address && address.reason === 'no_rule';
