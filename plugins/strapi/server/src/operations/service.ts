import type { Core, UID } from '@strapi/strapi';
import type { CheckRun } from '../../../shared/check';
import type { ConnectionTest } from '../../../shared/connection';
import type { Overview } from '../../../shared/problems';
import type { Address, DocumentReport, Owner, Result, RowReport, Shared } from '../../../shared/reports';
import { previewIsOn } from '../content/preview';
import {
  mayReadType,
  mayReadWholeType,
  readableVersions,
  type Ability,
  type Version,
} from '../content/readable';
import { readableOwner } from '../content/owner';
import { reasonBySchema, relatedEntry } from '../content/related';
import { titlesOf } from '../content/titles';
import { createBreaker } from '../service/breaker';
import { createCache, type Cache } from '../service/cache';
import { createClient, type Client } from '../service/client';
import { ServiceFailure } from '../service/failure';
import type { SettingsService } from '../settings/service';
import { readDocument, type FoundAddress, type Get, type DocumentKey, type Versions } from './document';
import { createChecks } from './checks';
import { checksOf, movesOf, problemsOf, versionKey, type MayRead } from './reports';
import { readRows, type FoundRow } from './rows';
import { testConnection } from './test-connection';
import { addTitles } from './titles';

/** Reports may take longer than a form waits, such as during the first walk of a site. */
const REPORT_MS = 10_000;

/** How long `/api/resolve` is not requested again for a site that does not resolve by documents. */
const RESOLVES_MS = 60_000;

export interface DocumentRequest {
  uid: string;
  documentId: string;
  locale?: string | undefined;
}

/** The operations of the plugin for the controllers: requests to the service, filtered for each admin. */
const operations = ({ strapi }: { strapi: Core.Strapi }) => {
  const settings = (): SettingsService => strapi.plugin('frontend-map').service('settings');
  let client = createClient(createBreaker());
  let cache: Cache<unknown> | null = null;
  // The next overview has the result of the run.
  const checks = createChecks(() => cache?.clear());
  const cached = <T>(key: unknown[], load: () => Promise<T>): Promise<T> => {
    cache ??= createCache<unknown>(settings().config().cacheMs);
    return cache.get(JSON.stringify(key), load) as Promise<T>;
  };

  const withoutResolve = new Map<string, number>();
  const resolves = {
    mayResolve: ({ uid, site }: DocumentKey) => (withoutResolve.get(site ?? uid) ?? 0) < Date.now(),
    markUnsupported: ({ uid, site }: DocumentKey) =>
      void withoutResolve.set(site ?? uid, Date.now() + RESOLVES_MS),
  };

  const getWith = async (timeoutMs: number, sender: Client = client): Promise<Get> => {
    const { address, draftToken, validateToken } = await settings().effective();
    const tokens = { draft: draftToken, validate: validateToken };
    return (path, query, token) =>
      sender.call(address, { path, query, token: token && tokens[token], timeoutMs });
  };

  const asResult = async <T>(load: () => Promise<T>): Promise<Result<T>> => {
    try {
      return { report: await load() };
    } catch (error) {
      if (error instanceof ServiceFailure) return { failure: error.failure };
      throw error;
    }
  };

  const withOwner = async <T extends { url: string }>(
    ability: Ability,
    found: T & { owner?: Owner },
  ): Promise<Omit<T, 'owner'> & Shared> => {
    const { owner, ...rest } = found;
    return owner ? { ...rest, owner: await readableOwner(strapi, ability, owner) } : rest;
  };

  const withRelated = async (
    ability: Ability,
    request: DocumentRequest,
    address: FoundAddress | null,
  ): Promise<Address | null> => {
    if (!address) return null;
    if (!('reason' in address)) return withOwner(ability, address);
    return { ...address, ...(await relatedEntry(strapi, ability, request, address.reason)) };
  };

  return {
    /** Drops what is known of the service, because the settings are new. */
    reset(): void {
      cache?.clear();
      withoutResolve.clear();
      // The failures were those of the previous address.
      client = createClient(createBreaker());
    },

    /** Null: there is no such document that the admin may read. */
    async document(ability: Ability, request: DocumentRequest): Promise<Result<DocumentReport> | null> {
      const found = await versionsOf(strapi, ability, request);
      if (!found) return null;
      return asResult(async () => {
        const site = (await settings().effective()).siteOf(request.uid);
        const key = { ...request, locale: found.locale, site };
        const get = await getWith(settings().config().timeoutMs);
        // The dates of the versions are in the key, so that a change is seen at once.
        const report = await cached(['document', key, found], () =>
          readDocument(get, key, found.versions, resolves),
        );
        const [published, draft] = await Promise.all([
          withRelated(ability, request, report.published),
          withRelated(ability, request, report.draft),
        ]);
        return { ...report, published, draft, preview: previewIsOn(strapi.config.get('admin.preview')) };
      });
    },

    /** The published URLs of a page of rows; documents that the admin may not read are left out. */
    async rows(
      ability: Ability,
      uid: string,
      locale: string | undefined,
      documentIds: string[],
    ): Promise<Result<Record<string, RowReport>>> {
      const status = 'draft' as const;
      const found = await readableVersions(strapi, ability, uid, documentIds, { locale, status });
      const readable = documentIds.filter((id) => found.some(({ documentId }) => documentId === id));
      if (!readable.length) return { report: {} };
      return asResult(async () => {
        const { address, siteOf } = await settings().effective();
        const { timeoutMs } = settings().config();
        // Strapi's default locale, which may be another one than the service's.
        const read = locale ?? found[0]?.locale ?? undefined;
        const key = { uid, locale: read, site: siteOf(uid), documentIds: readable };
        const rows = await cached(['rows', key], () =>
          readRows((path, query, body) => client.call(address, { path, query, body, timeoutMs }), key),
        );
        const report = async (row: FoundRow): Promise<RowReport> =>
          'url' in row ? withOwner(ability, row) : { reason: reasonBySchema(strapi, uid, row.reason) };
        const reports = Object.entries(rows).map(async ([id, row]) => [id, await report(row)] as const);
        return Object.fromEntries(await Promise.all(reports));
      });
    },

    /** What is wrong with the site, of the documents that the admin may read. */
    async overview(ability: Ability, site: string): Promise<Result<Overview>> {
      const mayRead = mayReadOf(strapi, ability);
      return asResult(async () => {
        const get = await getWith(REPORT_MS);
        // Cached for all admins, and filtered for each.
        const read = (path: string) => cached([path, site], () => get(path, { site }, 'validate'));
        const [problems, validations, redirects] = await Promise.all([
          read('/api/problems'),
          read('/api/validations'),
          read('/api/redirects'),
        ]);
        const overview: Overview = {
          problems: await problemsOf(problems, mayRead),
          checks: await checksOf(validations, mayRead),
          moves: redirects.status === 200 ? await movesOf(redirects, mayRead) : null,
        };
        for (const problem of overview.problems.problems) {
          if (problem.kind === 'no_url')
            problem.reason = reasonBySchema(strapi, problem.contentType, problem.reason);
        }
        await addTitles(overview, (uid, ids) => titlesOf(strapi, ability, uid, ids));
        return overview;
      });
    },

    /** What is wrong with the settings. */
    async test(): Promise<ConnectionTest> {
      const { siteOf } = await settings().effective();
      // With a circuit breaker of its own, so that a test always sends its requests.
      const get = await getWith(settings().config().timeoutMs, createClient(createBreaker()));
      return testConnection(get, siteOf(''));
    },

    /** The sites that the settings name: the one of all content types first. */
    async sites(): Promise<string[]> {
      const { site, sites } = await settings().view();
      return [...new Set([site, ...Object.values(sites)])].filter(Boolean);
    },

    /** Starts a run of URL checks, or joins the one in progress. */
    async startCheck(site: string, uid: string): Promise<CheckRun> {
      const { address, validateToken } = await settings().effective();
      return checks.start({ address, token: validateToken, site, uid });
    },
    checkState: (site: string, uid: string): CheckRun => checks.state({ site, uid }),
  };
};

/** Which documents of a report the admin may read: one query for a type with conditions. */
const mayReadOf =
  (strapi: Core.Strapi, ability: Ability): MayRead =>
  async (uid, documentIds) => {
    if (!mayReadType(strapi, ability, uid)) return 'none';
    if (await mayReadWholeType(strapi, ability, uid)) return 'all';
    const readable = new Set<string>();
    for (let at = 0; at < documentIds.length; at += 100) {
      const ids = documentIds.slice(at, at + 100);
      const found = await readableVersions(strapi, ability, uid, ids, { locale: '*', status: 'draft' });
      for (const { documentId, locale } of found) readable.add(versionKey(documentId, locale));
    }
    return readable;
  };

/** The versions that the admin may read, with their dates. */
const versionsOf = async (
  strapi: Core.Strapi,
  ability: Ability,
  { uid, documentId, locale }: DocumentRequest,
): Promise<{ versions: Versions; dates: string[]; locale: string | undefined } | null> => {
  const read = async (status: 'draft' | 'published'): Promise<Version | undefined> =>
    (await readableVersions(strapi, ability, uid, [documentId], { locale, status }))[0];
  const model = strapi.contentTypes[uid as UID.ContentType];
  const drafts = Boolean(model?.options?.draftAndPublish);
  const [published, draft] = await Promise.all([read('published'), drafts ? read('draft') : undefined]);
  if (!published && !draft) return null;
  const changed = Boolean(
    draft && published && Date.parse(draft.updatedAt) > Date.parse(published.updatedAt),
  );
  return {
    versions: { published: Boolean(published), draft: Boolean(draft && (!published || changed)) },
    locale: locale ?? (published ?? draft)?.locale ?? undefined,
    dates: [published?.updatedAt ?? '', draft?.updatedAt ?? ''].map(String),
  };
};

export type OperationsService = ReturnType<typeof operations>;
export default operations;
