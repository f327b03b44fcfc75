import type { PageOf, ProblemVersion } from './problems';

/** The verdicts that editors are shown. The service also has `ok` and `unknown`. */
export const SHOWN_VERDICTS = ['gone', 'no_such_page', 'moved', 'other_locale', 'not_canonical'] as const;
export type Verdict = (typeof SHOWN_VERDICTS)[number];

/** What the tab shows: links that lead to no page, or those with one of the other verdicts. */
export const LINK_KINDS = ['broken', 'moved', 'other_locale', 'not_canonical'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** A link in the content of an entry. */
export interface ContentLink extends ProblemVersion {
  typeName: string;
  isSingle: boolean;
  field: string;
  text: string;
  address: string;
  verdict: Verdict;
  /** Where it leads, or should lead; null: nowhere. */
  to: string | null;
}

/** Null: the settings of the service name no fields with links. */
export type Links = PageOf<ContentLink> | null;

/** An entry with a link to the open one. */
export interface LinkingEntry extends ProblemVersion {
  typeName: string;
  isSingle: boolean;
}

/** The links of the open entry, and to it. Null: the settings of the service name no fields with links. */
export type DocumentLinks = {
  /** How many of its links lead to no page. */
  broken: number;
  /** The first of them, and of the others that an editor may want to change. */
  links: ContentLink[];
  /** How many entries link to it, as far as the admin may read them; `more`: there are others. */
  entries: { count: number; more: boolean; first: LinkingEntry[] };
} | null;
