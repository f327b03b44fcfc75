import type { Cause, Finding, Findings, Kind, PageOf } from '../../../shared/problems';

/** What the page of the plugin asks for. */
export interface Choice {
  kind?: Kind | undefined;
  contentType?: string | undefined;
  locale?: string | undefined;
  cause?: string | undefined;
  /** A part of a title, a URL or an id, in any letter case. */
  search?: string | undefined;
  /** Findings one by one, also without a cause or a search. */
  isFlat?: boolean | undefined;
  sort?: string | undefined;
  page: number;
  pageSize: number;
}

export const pageOf = <T>(rows: T[], { page, pageSize }: { page: number; pageSize: number }): PageOf<T> => ({
  rows: rows.slice((page - 1) * pageSize, page * pageSize),
  count: rows.length,
  pageCount: Math.ceil(rows.length / pageSize),
});

/** The causes of findings, those of most findings first. */
export const causesOf = (findings: Finding[]): Cause[] => {
  const causes = new Map<string, Cause>();
  for (const finding of findings) {
    const cause = causes.get(finding.cause);
    if (cause) cause.count += 1;
    else causes.set(finding.cause, { count: 1, example: finding });
  }
  return [...causes.values()].sort((one, other) => other.count - one.count);
};

const has = (text: string | undefined, part: string): boolean => text?.toLowerCase().includes(part) ?? false;

/** Encoded and as people read it. */
export const hasUrl = (url: string | undefined, part: string): boolean => {
  if (has(url, part)) return true;
  try {
    return has(decodeURI(url ?? ''), part);
  } catch {
    return false;
  }
};

/** The titles of the entries that are at fault, in all languages, by the cause. */
const namesOf = (findings: Finding[]): Map<string, Set<string>> => {
  const names = new Map<string, Set<string>>();
  for (const { cause, related, owner } of findings) {
    const title = related?.title ?? owner?.title;
    if (title) names.set(cause, (names.get(cause) ?? new Set()).add(title.toLowerCase()));
  }
  return names;
};

const finder = (findings: Finding[], part: string): ((finding: Finding) => boolean) => {
  const causes = [...namesOf(findings)].filter(([, names]) => [...names].some((name) => name.includes(part)));
  const whole = new Set(causes.map(([cause]) => cause));
  return ({ title, documentId, url, cause }) =>
    whole.has(cause) || has(title, part) || has(documentId, part) || hasUrl(url, part);
};

/** Made once: it is slow to make, and compares thousands of titles. */
const titles = new Intl.Collator(undefined, { numeric: true });

const ORDERS: Record<string, (one: Finding, other: Finding) => number> = {
  title: (one, other) => titles.compare(one.title ?? one.documentId, other.title ?? other.documentId),
  contentType: (one, other) => titles.compare(one.typeName, other.typeName),
  locale: (one, other) => titles.compare(one.locale, other.locale),
};

/** `title:ASC`, as Strapi's lists have it in the address bar; null for another order. */
const orderOf = (sort: string | undefined): ((one: Finding, other: Finding) => number) | null => {
  const [name = '', direction] = (sort ?? '').split(':');
  const order = ORDERS[name];
  if (!order) return null;
  return direction === 'DESC' ? (one, other) => order(other, one) : order;
};

/** The page of findings or causes that is asked for. */
export const choose = (findings: Finding[], isCut: boolean, choice: Choice): Findings => {
  const isFound = choice.search ? finder(findings, choice.search.toLowerCase()) : null;
  const chosen = findings.filter(
    (finding) =>
      (!choice.kind || finding.kind === choice.kind) &&
      (!choice.contentType || finding.contentType === choice.contentType) &&
      (!choice.locale || finding.locale === choice.locale) &&
      (!choice.cause || finding.cause === choice.cause) &&
      (!isFound || isFound(finding)),
  );
  const order = orderOf(choice.sort);
  const isFlat = Boolean(choice.isFlat || choice.cause);
  const types = new Map(findings.map(({ contentType, typeName }) => [contentType, typeName]));
  const causes = causesOf(chosen);
  if (order && !isFlat) causes.sort((one, other) => order(one.example, other.example));
  if (choice.sort === 'count:ASC') causes.reverse();
  return {
    causes: isFlat ? null : pageOf(causes, choice),
    findings: isFlat ? pageOf(order ? [...chosen].sort(order) : chosen, choice) : null,
    cause: (choice.cause && causes[0]) || null,
    total: findings.length,
    isCut,
    contentTypes: [...types]
      .map(([uid, name]) => ({ uid, name }))
      .sort((one, other) => one.name.localeCompare(other.name)),
    locales: [...new Set(findings.map(({ locale }) => locale))].sort(),
  };
};
