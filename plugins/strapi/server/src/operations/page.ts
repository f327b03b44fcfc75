import type { Owner, PathOwner } from '../../../shared/reports';
import { ServiceFailure } from '../service/failure';
import { pageUrl } from '../service/page-url';
import { record } from '../service/records';
import type { Get } from './document';

/** A URL as the service takes it. */
export interface PageAddress {
  pathname: string;
  /** Absent where only a path is known. */
  host?: string;
}

export const PAGE_KINDS = ['document', 'page', 'redirect', 'none'] as const;
export type PageKind = (typeof PAGE_KINDS)[number];

/** What visitors find at a URL, before it is known which documents the admin may read. */
export interface FoundPage {
  site: string;
  kind: PageKind;
  /** The URL of the page itself, also of the one that a redirect leads to; null without a base URL. */
  url: string | null;
  owner: Owner | null;
  /** The name of a page outside the CMS; null for one that a redirect leads to. */
  page: string | null;
  redirect: { status: number; since: string | null } | null;
  /** When a document that is not published now had the path last. */
  goneSince: string | null;
}

/** The same with the document, if the admin may read it; otherwise `url` is null, too. */
export interface Page extends Omit<FoundPage, 'owner'> {
  document: PathOwner | null;
}

/** Of `https://www.example.com/en/about?x` or `/en/about`; null for anything that is no URL of a page. */
export const pageAddressOf = (text: string): PageAddress | null => {
  const isPath = text.startsWith('/');
  const whole = isPath ? `http://path.invalid${text}` : text;
  if (!URL.canParse(whole)) return null;
  const { protocol, host, pathname } = new URL(whole);
  if (!/^https?:$/.test(protocol) || !isReadable(pathname)) return null;
  return isPath ? { pathname } : { pathname, host };
};

/** The service refuses what is not percent-encoded UTF-8, and control characters. */
const isReadable = (pathname: string): boolean => {
  try {
    return !/\p{Cc}/u.test(decodeURIComponent(pathname));
  } catch {
    return false;
  }
};

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const NOTHING = { url: null, owner: null, page: null, redirect: null, goneSince: null };

const found = (site: string, data: Record<string, unknown>): FoundPage => {
  const kind = PAGE_KINDS.find((one) => one === data.kind);
  if (!kind) throw new ServiceFailure('older-version');
  const contentType = text(record(data.matched).collectionType);
  const [documentId, locale] = [text(data.documentId), text(data.locale)];
  const { status, since, to } = record(data.redirect);
  const url = kind === 'redirect' ? to : data.canonicalUrl;
  return {
    site,
    kind,
    url: text(url) === null ? null : pageUrl(url),
    owner: contentType && documentId && locale ? { contentType, documentId, locale } : null,
    page: text(data.page),
    redirect: typeof status === 'number' ? { status, since: text(since) } : null,
    goneSince: text(record(data.gone).since),
  };
};

/** Null: the site resolves content types alone. */
export const readPage = async (get: Get, site: string, address: PageAddress): Promise<FoundPage | null> => {
  const { status, data, details } = await get('/api/resolve', { site, ...address });
  if (status === 501) return null;
  if (status === 400) throw new ServiceFailure('unknown-site');
  if (details.reason === 'no_route') throw new ServiceFailure('older-version');
  if (status === 404) return { ...NOTHING, site, kind: 'none', goneSince: text(record(details.gone).since) };
  const here = found(site, data);
  const { documentId, path } = record(data.redirect);
  if (here.kind !== 'redirect' || text(documentId) === null) return here;
  // A redirect does not name the content type of the document that it leads to.
  const host = here.url === null ? undefined : new URL(here.url).host;
  const target = await get('/api/resolve', { site, pathname: text(path) ?? '', host });
  const owner = target.status === 200 ? found(site, target.data).owner : null;
  // The document has moved again meanwhile.
  if (owner?.documentId !== documentId) throw new ServiceFailure('busy');
  return { ...here, owner };
};

/** Of several sites, the one that has a page at the host; else the first one that has a page. */
export const chosenPage = (pages: FoundPage[], { host }: PageAddress): FoundPage | undefined => {
  const isHere = ({ url }: FoundPage) => url !== null && new URL(url).host === host;
  return pages.find(isHere) ?? pages.find(({ kind }) => kind !== 'none') ?? pages[0];
};
