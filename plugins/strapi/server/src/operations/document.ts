import type { Check, DocumentReport, Link, NoLink, Owner } from '../../../shared/reports';
import type { Failure } from '../../../shared/failures';
import { ownerIn } from '../content/owner';
import { ServiceFailure } from '../service/failure';
import { pageUrl } from '../service/page-url';
import { isRecord, record, rows, type Row } from '../service/records';
import type { ServiceResponse } from '../service/client';
import { beforeIn, type FoundBefore } from './before';

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
  /** There is a draft, equal or not. */
  hasDraft: boolean;
}

/** An address before it is known which owner of its path the admin may read. */
export type FoundAddress = (Omit<Link, 'owner'> & { owner?: Owner }) | NoLink;

/** What the published document has in another language. */
export interface FoundLanguage {
  locale: string;
  address: FoundAddress;
}

/** A report with such addresses. */
export interface FoundDocument extends Pick<DocumentReport, 'formerPaths' | 'check'> {
  published: FoundAddress | null;
  draft: FoundAddress | null;
  languages: FoundLanguage[];
  before: FoundBefore | null;
  /** Why it is not known what the next click would do. */
  previewFailure: Failure | null;
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** The reason in a response without a URL. */
const withoutUrl = ({ status, details }: ServiceResponse): NoLink => {
  if (status === 400) throw new ServiceFailure('unknown-site');
  if (status === 501) return { reason: 'no_base_url', rule: null };
  const reason = text(details.reason);
  // The service says so of an address that it does not have.
  if (!reason || reason === 'no_route') throw new ServiceFailure('older-version');
  return { reason, rule: text(details.rule) };
};

/** The URL or the reason in `data`, or in a row of it. */
const addressIn = ({ url, path, reason, rule, sharedPath }: Row): FoundAddress => {
  const [missing, found] = [text(reason), text(path)];
  if (missing) return { reason: missing, rule: text(rule) };
  if (found === null) throw new ServiceFailure('older-version');
  if (text(url) === null) return { reason: 'no_base_url', rule: null };
  const owner = ownerIn(sharedPath);
  return { url: pageUrl(url), path: found, ...(owner && { owner }) };
};

/** What the last run found; it may have checked another URL than the version has now. */
const checkIn = (value: unknown, url: unknown): Check | null => {
  if (!isRecord(value) || text(value.at) === null) return null;
  const { at, status, ok, reason } = value;
  return {
    at: String(at),
    isCurrent: value.url === url,
    status: typeof status === 'number' ? status : null,
    ok: ok === true,
    ...(text(reason) && { reason: String(reason) }),
  };
};

/** The draft as it would be published, and what the next click would do. */
interface FoundPreview {
  draft: FoundAddress;
  before: FoundBefore | null;
}

/** The address in what publishing would do; another entry may have its path. */
const addressAfter = ({ path, url, noPath, conflict }: Row): FoundAddress => {
  const { reason, rule } = record(noPath);
  if (text(reason) !== null) return addressIn({ reason, rule });
  const { wins, document } = record(conflict);
  return addressIn({ path, url, ...(wins === 'other' && { sharedPath: { owner: document } }) });
};

/** Of the sites, the one whose URLs are shown. */
const previewIn = (data: Row, site: unknown): FoundPreview => {
  const sites = rows(data.sites);
  const own = sites.find((one) => one.site === site) ?? sites[0];
  if (!own) return { draft: { reason: 'no_rule', rule: null }, before: null };
  return { draft: addressAfter(record(own.publish)), before: beforeIn(own) };
};

/** Null: there is none, or the service does not show drafts. */
interface PreviewResponse {
  response: ServiceResponse | null;
  failure: Failure | null;
}

const previewOf = async (get: Get, key: DocumentKey, isPublished: boolean): Promise<PreviewResponse> => {
  try {
    return { response: await get('/api/publish-preview', { ...key }, 'draft'), failure: null };
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    const { failure } = error;
    // A draft that the service does not show, or not in time, must not hide the published URL.
    if (failure === 'wrong-token') return { response: null, failure: null };
    if (isPublished) return { response: null, failure };
    // A preview needs all content types of the site, the URL of the draft its own alone.
    return { response: await get('/api/frontend-url', { ...key, status: 'draft' }, 'draft'), failure };
  }
};

/** The rows of all locales; an address instead where the content type has no rule. */
const localesOf = async (get: Get, { uid, documentId, site }: DocumentKey): Promise<Locales | NoLink> => {
  const response = await get('/api/document', { uid, documentId, site }, 'validate');
  if (response.status !== 200) return withoutUrl(response);
  return { site: response.data.site, locales: rows(response.data.locales) };
};

interface Locales {
  site: unknown;
  locales: Row[];
}

/** Two requests to the service at most, and a third where the preview of an unpublished document fails. */
export const readDocument = async (
  get: Get,
  key: DocumentKey,
  versions: Versions,
): Promise<FoundDocument> => {
  const [found, { response, failure }] = await Promise.all([
    localesOf(get, key),
    versions.hasDraft ? previewOf(get, key, versions.published) : { response: null, failure: null },
  ]);
  if ('reason' in found) {
    const nothing = { draft: null, languages: [], formerPaths: [], check: null, before: null };
    return { ...nothing, published: found, previewFailure: null };
  }
  const preview: FoundPreview | null =
    response &&
    (response.status === 200
      ? Array.isArray(response.data.sites)
        ? previewIn(response.data, found.site)
        : { draft: addressIn(response.data), before: null }
      : { draft: withoutUrl(response), before: null });
  const draft = versions.draft && preview ? preview.draft : null;
  // A document that is not localized has one row, for the first locale of the site.
  const { locales } = found;
  const own = key.locale ? locales.find(({ locale }) => locale === key.locale) : locales[0];
  const row = own ?? { reason: 'locale_unknown' };
  const published = versions.published ? addressIn(row) : null;
  return {
    published,
    draft: JSON.stringify(published) === JSON.stringify(draft) ? null : draft,
    languages: locales
      .filter((one) => one !== own)
      .map((one) => ({ locale: String(one.locale), address: addressIn(one) })),
    formerPaths: published ? texts(row.formerPaths) : [],
    check: published ? checkIn(row.lastCheck, row.url) : null,
    before: preview?.before ?? null,
    previewFailure: failure,
  };
};
