import type { PathOwner, Reason } from './reports';
import type { NewRedirect } from './sites';

/** A version of a document that a problem is about. */
export interface ProblemVersion {
  contentType: string;
  documentId: string;
  locale: string;
  title?: string;
}

export const KINDS = ['dead', 'no_url', 'shared_path', 'redirect'] as const;
export type Kind = (typeof KINDS)[number];

/** What a redirect of the CMS does not do: `kind` of the service. */
export const REDIRECT_PROBLEMS = [
  'redirect_shadowed',
  'redirect_hides_page',
  'redirect_loop',
  'redirect_without_target',
  'redirect_unusable',
] as const;
export type RedirectProblem = (typeof REDIRECT_PROBLEMS)[number];

/** A version that an editor can put right. */
export interface Finding extends ProblemVersion, Partial<Reason> {
  kind: Kind;
  /** The name of the content type. */
  typeName: string;
  isSingle: boolean;
  /** Equal for all findings that one change puts right. */
  cause: string;
  /** The shared path, the path of a redirect or of the page that it hides, or the dead URL. */
  url?: string;
  /** Of a redirect. */
  redirectProblem?: RedirectProblem;
  /** The owner of a shared path. */
  owner?: PathOwner;
  /** Of a dead URL: its status, or why there was no response. Of a redirect: why a field cannot be used. */
  status?: string;
}

/** What several versions have in common, with one of them. */
export interface Cause {
  count: number;
  example: Finding;
}

/** What the widget shows. */
export interface Overview {
  site: string;
  total: number;
  /** The service has more problems than it lists. */
  isCut: boolean;
  /** The first ones of `causeCount`. */
  causes: Cause[];
  causeCount: number;
  /** When the last URL check ended. */
  lastCheck: string | null;
}

/** A page of a table. */
export interface PageOf<T> {
  rows: T[];
  /** Rows on all pages. */
  count: number;
  pageCount: number;
}

export interface ContentType {
  uid: string;
  name: string;
}

/** A page of causes, or of the findings of one cause or of a search. */
export interface Findings {
  causes: PageOf<Cause> | null;
  findings: PageOf<Finding> | null;
  /** The cause whose findings these are. */
  cause: Cause | null;
  /** Findings without a choice. */
  total: number;
  isCut: boolean;
  /** What can be chosen. */
  contentTypes: ContentType[];
  locales: string[];
}

/** The last run of URL checks of one content type. */
export interface CheckReport extends ContentType {
  /** Pages that were checked; null where the admin may not read all of them. */
  count: number | null;
  /** Dead pages that the admin may read. */
  dead: number;
  /** There are more dead pages than the service lists. */
  isCut: boolean;
  endedAt: string;
}

export interface Checks {
  checks: CheckReport[];
  /** Types whose pages the admin may have checked. */
  contentTypes: ContentType[];
}

/** A former path, and where it leads now. */
export interface Move extends ProblemVersion {
  from: string;
  path: string;
  since: string | null;
  typeName: string;
  isSingle: boolean;
}

/** Null: the site remembers no former paths. */
export type Moves = PageOf<Move> | null;

/** Why a page was perhaps meant. */
export const MISS_REASONS = ['other_case', 'other_locale', 'same_slug', 'similar'] as const;
export type MissReason = (typeof MISS_REASONS)[number];

/** A page that was perhaps meant; without a document it is none of the CMS. */
export interface MissSuggestion {
  path: string;
  reason: MissReason;
  document: (ProblemVersion & { typeName: string; isSingle: boolean }) | null;
}

/** A path that visitors could not find. */
export interface Miss {
  /** Null: all paths that only scanners request. */
  path: string | null;
  /** Of a site with several hosts. */
  host: string | null;
  /** Requests that are certain, and that there were at most. */
  least: number;
  most: number;
  firstAt: string | null;
  lastAt: string | null;
  suggestion: MissSuggestion | null;
  /** Null: no redirect can have the path, or the site has none in the CMS. */
  redirect: NewRedirect | null;
}

/** Null: the site has no list of such paths. */
export type Misses = PageOf<Miss> | null;

/** What was cleared. */
export interface Cleared {
  count: number;
}
