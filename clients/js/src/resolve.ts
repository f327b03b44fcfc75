/** `GET /api/resolve`: what is at a path. */
import { FrontendMapError, invalidResponse } from "./error.js";
import type { Reads } from "./http/reads.js";
import { type Call, dataOf, type Transport } from "./http/transport.js";
import { isImpossible, target } from "./pathname.js";
import type { LastGood, Match, Resolution, SiteKey } from "./types.js";

/** The kinds that this version of the client knows, beside documents. */
const KINDS: unknown[] = ["page", "redirect", "none"];

export interface ResolveOptions<Locale = string> {
  /** For a path that does not determine its locale. */
  locale?: Locale | null | undefined;
  /** Finds drafts by their path; sends the token, and nothing is cached. */
  draft?: boolean | undefined;
  /** Ends the call with its reason. A request that other calls wait for goes on. */
  signal?: AbortSignal | undefined;
}

type Result<Site> = Resolution<Site> & { lastGood?: LastGood };

export async function resolve<Site = SiteKey>(
  transport: Transport,
  reads: Reads,
  from: string | URL,
  { locale, draft = false, signal }: ResolveOptions = {},
): Promise<Result<Site>> {
  const { pathname, host } = target(from);
  if (isImpossible(pathname)) return decode(noPage(transport.site, pathname));
  const query = { pathname, locale, host, status: draft ? "draft" : null };
  const call: Call = { path: "/api/resolve", query, authorized: draft, about: pathname };
  return reads.read<Resolution<Site>>({
    key: transport.url(call),
    leadsTo: (page) => {
      if (!("redirect" in page && page.redirect)) return null;
      const { to, path } = page.redirect;
      return transport.url({ ...call, query: { ...query, pathname: path, host: host && to ? new URL(to).host : host } });
    },
    kind: draft ? "drafts" : "paths",
    signal,
    request: async (urgent, all) => {
      try {
        return await transport.text({ ...call, retry: !urgent, signal: all });
      } catch (error) {
        if (!isNoMatch(error)) throw error;
        return noPage(transport.site, pathname, error.details.gone);
      }
    },
    decode,
    // "No such page" is never repeated: the page may be there when the service is back.
    keeps: ({ kind }) => !draft && kind !== "none",
  });
}

function decode<Site>(text: string): Resolution<Site> {
  const data = dataOf(text);
  const { kind, matched, alternates, breadcrumbs } = data;
  const isDocument = kind === "document";
  const isKnown = isDocument ? matched && alternates && breadcrumbs : KINDS.includes(kind);
  if (!isKnown) throw invalidResponse(`unknown kind ${kind}, or a part of one`);
  // By a member of its own, the compiler narrows the whole result.
  if (isDocument) data.contentType = (matched as Match<SiteKey>).collectionType;
  return data as unknown as Resolution<Site>;
}

/** The service's 404 for a path that no rule matches, which is a result; not that of a wrong route. */
function isNoMatch(error: unknown): error is FrontendMapError {
  return error instanceof FrontendMapError && error.status === 404 && "normalizedPath" in error.details;
}

/** What the service says of a path that no document has, as JSON. */
function noPage(site: string, pathname: string, gone?: unknown): string {
  const data = {
    site,
    pathname,
    locale: null,
    matched: null,
    kind: "none",
    gone,
    resolvedBy: "rules",
    documentId: null,
    canonicalPath: null,
    canonicalUrl: null,
    isCanonical: null,
    resource: null,
    lastModified: null,
    breadcrumbs: [],
    alternates: {},
  };
  return JSON.stringify({ data });
}
