import type { CheckedUrl, DocumentReport, Link, NoLink, Owner } from '../../../shared/reports';
import { ownerIn } from '../content/owner';
import { ServiceFailure } from '../service/failure';
import { pageUrl } from '../service/page-url';
import { rows } from '../service/records';
import type { ServiceResponse } from '../service/client';

/** One document in one locale, as the service names it. */
export interface DocumentKey {
  uid: string;
  documentId: string;
  locale?: string | undefined;
  site?: string | undefined;
}

/** Sends a GET; `token` says which of the tokens it needs. */
export type Get = (
  path: string,
  query: Record<string, string | undefined>,
  token?: 'draft' | 'validate',
) => Promise<ServiceResponse>;

/** Which versions exist that the admin may read. */
export interface Versions {
  published: boolean;
  /** There is a draft whose fields may differ from those of the published version. */
  draft: boolean;
}

/** An address before it is known which owner of its path the admin may read. */
export type FoundAddress = (Omit<Link, 'owner'> & { owner?: Owner }) | NoLink;

/** A report with such addresses. */
export type FoundDocument = Omit<DocumentReport, 'preview' | 'published' | 'draft'> & {
  published: FoundAddress | null;
  draft: FoundAddress | null;
};

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** An older version of the service: each 404 about a document has a reason. */
const isMissingRoute = ({ status, details }: ServiceResponse): boolean =>
  status === 404 && !text(details.reason);

/** The reason in a response without a URL. */
const withoutUrl = ({ status, details }: ServiceResponse): NoLink => {
  if (status === 400) throw new ServiceFailure('unknown-site');
  if (status === 501) return { reason: 'no_base_url', rule: null };
  const reason = text(details.reason);
  if (!reason) throw new ServiceFailure('older-version');
  return { reason, rule: text(details.rule) };
};

const addressOf = (response: ServiceResponse, url: unknown, path: unknown): FoundAddress => {
  if (response.status !== 200) return withoutUrl(response);
  const found = { url: text(url), path: text(path) };
  if (found.path === null) throw new ServiceFailure('older-version');
  if (found.url === null) return { reason: 'no_base_url', rule: null };
  const owner = ownerIn(response.data.sharedPath);
  return { url: pageUrl(found.url), path: found.path, ...(owner && { owner }) };
};

const byFields = async (get: Get, key: DocumentKey, status: 'published' | 'draft'): Promise<FoundAddress> => {
  const token = status === 'draft' ? 'draft' : undefined;
  const response = await get('/api/frontend-url', { ...key, status, details: 'true' }, token);
  return addressOf(response, response.data.url, response.data.path);
};

const alternatesOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(value ?? {}).map(([code, url]) => [code, pageUrl(url)]));

interface Published {
  address: FoundAddress;
  site: string | undefined;
  alternates: Record<string, string>;
  formerPaths: string[];
}

/**
 * The published version. `/api/resolve` has alternates and former paths too, on sites that resolve
 * by documents; on others it is a 501, and older versions of the service do not have it.
 */
const publishedOf = async (get: Get, key: DocumentKey, resolves: ResolveSupport): Promise<Published> => {
  const bare = { site: key.site, alternates: {}, formerPaths: [] };
  if (resolves.mayResolve(key)) {
    const response = await get('/api/resolve', { ...key });
    if (response.status === 200) {
      const { canonicalUrl, canonicalPath, alternates, formerPaths, site } = response.data;
      return {
        address: addressOf(response, canonicalUrl, canonicalPath),
        site: text(site) ?? undefined,
        alternates: alternatesOf(alternates),
        formerPaths: list(formerPaths).filter((path): path is string => typeof path === 'string'),
      };
    }
    if (response.status !== 501 && !isMissingRoute(response))
      return { ...bare, address: withoutUrl(response) };
    resolves.markUnsupported(key);
  }
  return { ...bare, address: await byFields(get, key, 'published') };
};

/** What the last run of URL checks says of the document; null where that is not known. */
const checkedOf = async (get: Get, key: DocumentKey): Promise<DocumentReport['checked']> => {
  if (!key.site) return null;
  const query = { site: key.site, contentType: key.uid, documentId: key.documentId };
  const response = await get('/api/validations', query, 'validate').catch(() => null);
  const run = rows(response?.data.validations ?? [])[0];
  const at = text(run?.endedAt);
  if (!run || !at) return null;
  const pages: unknown = rows(run.pages ?? []);
  const urls = (pages as (CheckedUrl & { locale?: string })[])
    .filter((page) => !key.locale || page.locale === key.locale)
    .map(({ url, status, ok, reason, location }) => ({ url, status, ok, reason, location }));
  return { at, urls };
};

/** Remembers which sites do not resolve by documents, so that `/api/resolve` is not requested each time. */
export interface ResolveSupport {
  mayResolve(key: DocumentKey): boolean;
  markUnsupported(key: DocumentKey): void;
}

/** At most three requests to the service; four once for a site that does not resolve by documents. */
export const readDocument = async (
  get: Get,
  key: DocumentKey,
  versions: Versions,
  resolves: ResolveSupport,
): Promise<FoundDocument> => {
  const [published, draft, early] = await Promise.all([
    versions.published ? publishedOf(get, key, resolves) : null,
    versions.draft ? draftOf(get, key) : null,
    versions.published ? checkedOf(get, key) : null,
  ]);
  // At the same time as the others if the site is known, else after the response that names it.
  const late = published && !key.site ? checkedOf(get, { ...key, site: published.site }) : null;
  const checked = early ?? (await late);
  return {
    published: published?.address ?? null,
    draft: published && draft && isSame(published.address, draft) ? null : draft,
    alternates: published?.alternates ?? {},
    formerPaths: published?.formerPaths ?? [],
    checked,
  };
};

/** A draft whose URL is not readable must not hide the published URL. */
const draftOf = async (get: Get, key: DocumentKey): Promise<FoundAddress | null> => {
  try {
    return await byFields(get, key, 'draft');
  } catch (error) {
    if (error instanceof ServiceFailure && error.failure === 'wrong-token') return null;
    throw error;
  }
};

const isSame = (one: FoundAddress, other: FoundAddress): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
