import type { Check, DocumentReport, Link, NoLink, Owner } from '../../../shared/reports';
import { ownerIn } from '../content/owner';
import { ServiceFailure } from '../service/failure';
import { pageUrl } from '../service/page-url';
import { isRecord, rows, type Row } from '../service/records';
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

const draftOf = async (get: Get, key: DocumentKey): Promise<FoundAddress | null> => {
  try {
    const response = await get('/api/frontend-url', { ...key, status: 'draft', details: 'true' }, 'draft');
    return response.status === 200 ? addressIn(response.data) : withoutUrl(response);
  } catch (error) {
    // A draft whose URL is not readable must not hide the published URL.
    if (error instanceof ServiceFailure && error.failure === 'wrong-token') return null;
    throw error;
  }
};

/** The rows of all locales; an address instead where the content type has no rule. */
const localesOf = async (get: Get, { uid, documentId, site }: DocumentKey): Promise<Row[] | NoLink> => {
  const response = await get('/api/document', { uid, documentId, site }, 'validate');
  if (response.status !== 200) return withoutUrl(response);
  return rows(response.data.locales);
};

/** At most two requests to the service. */
export const readDocument = async (
  get: Get,
  key: DocumentKey,
  versions: Versions,
): Promise<FoundDocument> => {
  const [found, draft] = await Promise.all([localesOf(get, key), versions.draft ? draftOf(get, key) : null]);
  if (!Array.isArray(found)) {
    return { published: found, draft: null, languages: [], formerPaths: [], check: null };
  }
  // A document that is not localized has one row, for the first locale of the site.
  const own = key.locale ? found.find(({ locale }) => locale === key.locale) : found[0];
  const row = own ?? { reason: 'locale_unknown' };
  const published = versions.published ? addressIn(row) : null;
  return {
    published,
    draft: JSON.stringify(published) === JSON.stringify(draft) ? null : draft,
    languages: found
      .filter((one) => one !== own)
      .map((one) => ({ locale: String(one.locale), address: addressIn(one) })),
    formerPaths: published ? texts(row.formerPaths) : [],
    check: published ? checkIn(row.lastCheck, row.url) : null,
  };
};
