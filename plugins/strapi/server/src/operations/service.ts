import { createHash } from 'node:crypto';
import type { Core, UID } from '@strapi/strapi';
import type { CheckRun } from '../../../shared/check';
import type { ConnectionTest } from '../../../shared/connection';
import type { DocumentLinks, LinkKind, Links } from '../../../shared/links';
import type { Checks, Cleared, Finding, Findings, Misses, Moves, Overview } from '../../../shared/problems';
import type {
  Address,
  Before,
  Conflict,
  DocumentReport,
  Owner,
  Result,
  RowReport,
  Shared,
} from '../../../shared/reports';
import type { Site } from '../../../shared/sites';
import { labelsOf } from '../content/labels';
import { readableLanguages } from '../content/languages';
import {
  mayReadType,
  mayReadWholeType,
  localesOf,
  readableVersions,
  type Ability,
  type Version,
} from '../content/readable';
import { readableOwner } from '../content/owner';
import { redirectTypeOf } from '../content/redirect-type';
import { reasonBySchema, relatedEntries, relatedEntry } from '../content/related';
import { titlesOf } from '../content/titles';
import { createBreaker } from '../service/breaker';
import { createCache, type Cache } from '../service/cache';
import { createClient, type Client, type ServiceResponse } from '../service/client';
import { ServiceFailure } from '../service/failure';
import type { Failure } from '../../../shared/failures';
import type { ShownParts } from '../../../shared/settings';
import type { SettingsService } from '../settings/service';
import type { FoundBefore } from './before';
import { readDocument, type FoundAddress, type Get, type Versions } from './document';
import { createChecks } from './checks';
import { causesOf, choose, pageOf, type Choice } from './choice';
import { findingsOf, type Knowledge } from './findings';
import { documentLinksOf, linksOf, linksWith, verdictsOf } from './links';
import { missesOf, missesWith } from './misses';
import { movesWith } from './moves';
import { chosenPage, readPage, type Page, type PageAddress } from './page';
import { readPreview, type Preview } from './preview';
import { movesOf, problemsOf, readableOf, runsOf, versionKey, type MayRead, type Run } from './reports';
import { readRows, type FoundRow } from './rows';
import { testConnection } from './test-connection';
import { sitesOf, type ServiceSite } from './sites';

/** Reports may take longer than a form waits, such as during the first walk of a site. */
const REPORT_MS = 10_000;

/** How long the sites of the service are known: they change with its settings alone. */
const SITES_MS = 60_000;
/** For how long a site without links in content is not asked for them. */
const WITHOUT_LINKS_MS = 60_000;

/** Causes that the widget shows. */
const OVERVIEW_CAUSES = 5;

/** Pages that the panel names of those that move along. */
const MOVING_PAGES = 3;

/** Reports that are kept: they may have some megabytes, and each role with conditions has its own. */
const MAX_REPORTS = 8;

/** Documents of one query. */
const BATCH = 500;

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
  let reports: Cache<Report> | null = null;
  const knownSites = createCache<ServiceSite[]>(SITES_MS);
  const forget = (): void => {
    cache?.clear();
    reports?.clear();
  };
  // The next overview has the result of the run.
  const checks = createChecks(forget);
  const cached = <T>(key: unknown[], load: () => Promise<T>, isKept?: (result: T) => boolean): Promise<T> => {
    cache ??= createCache<unknown>(settings().config().cacheMs);
    return cache.get(JSON.stringify(key), load, isKept as (result: unknown) => boolean) as Promise<T>;
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

  const labels = (uid: string, reason: string): Promise<Record<string, string>> =>
    cached(['labels', uid, reason], () => labelsOf(strapi, uid, reason));

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
    address: FoundAddress,
  ): Promise<Address> => {
    if (!('reason' in address)) return withOwner(ability, address);
    const [known, names] = await Promise.all([
      relatedEntry(strapi, ability, request, address.reason),
      labels(request.uid, address.reason),
    ]);
    return { ...address, ...known, labels: names };
  };

  /** Only publishing has a conflict, and names pages. */
  const readableBefore = async (ability: Ability, found: FoundBefore): Promise<Before> => {
    const { owner, ...rest } = found.publish.conflict ?? {};
    const [known, isReadable] = await Promise.all([
      owner && readableOwner(strapi, ability, owner),
      readableOf(found.moving, mayReadOf(strapi, ability)),
    ]);
    const conflict = found.publish.conflict && ({ ...rest, ...(owner && { owner: known }) } as Conflict);
    const moving = found.moving.filter(isReadable).slice(0, MOVING_PAGES);
    return {
      ...(found as Before),
      moving: moving.map(({ from, to }) => ({ from, to })),
      publish: { ...found.publish, conflict },
    };
  };

  /** A report of the service, for all admins. */
  const read = async (path: string, site: string): Promise<ServiceResponse> => {
    const get = await getWith(REPORT_MS);
    return cached([path, site], () => get(path, { site }, 'validate'));
  };

  /** What is wrong with a site, for all admins with the same permissions. */
  const report = (ability: Ability, site: string): Promise<Report> => {
    reports ??= createCache<Report>(settings().config().cacheMs, { max: MAX_REPORTS });
    return reports.get(JSON.stringify([site, rulesOf(ability)]), async () => {
      const mayRead = mayReadOf(strapi, ability);
      const [problems, validations] = await Promise.all([
        read('/api/problems', site),
        read('/api/validations', site),
      ]);
      const runs = await runsOf(validations, mayRead);
      const knowledge = knowledgeOf(strapi, ability);
      const findings = await findingsOf(await problemsOf(problems, mayRead), runs, knowledge);
      const isCut = problems.data.truncated === true || runs.some((run) => run.isCut);
      return { findings, runs, isCut };
    });
  };

  /** All sites of the service. */
  const serviceSites = (): Promise<ServiceSite[]> =>
    knownSites.get('', async () => {
      const get = await getWith(settings().config().timeoutMs);
      const response = await get('/api/sites', {}, 'validate');
      return sitesOf(response);
    });

  const namedSites = async (): Promise<string[]> => {
    const { site, sites } = await settings().view();
    return [...new Set([site, ...Object.values(sites)])].filter(Boolean);
  };

  /** The sites without links in content, each with the time until which that is not asked again. */
  const withoutLinks = new Map<string, number>();

  return {
    /** Drops what is known of the service, because the settings are new. */
    reset(): void {
      forget();
      knownSites.clear();
      withoutLinks.clear();
      // The failures were those of the previous address.
      client = createClient(createBreaker());
    },

    /** Null: there is no such document that the admin may read. */
    async document(ability: Ability, request: DocumentRequest): Promise<Result<DocumentReport> | null> {
      const found = await versionsOf(strapi, ability, request);
      if (!found) return null;
      let missing: Failure | null = null;
      const result = await asResult(async () => {
        const site = (await settings().effective()).siteOf(request.uid);
        const key = { ...request, locale: found.locale, site };
        const get = await getWith(settings().config().timeoutMs);
        // The dates of the versions are in the key, so that a change is seen at once.
        const { previewFailure, ...report } = await cached(
          ['document', key, found],
          () => readDocument(get, key, found.versions),
          // The next attempt asks again.
          (read) => !read.previewFailure,
        );
        missing = previewFailure;
        const { published, draft } = report;
        const readable = await readableLanguages(strapi, ability, request, report.languages);
        const languages = readable.map(async ({ locale, address }) => ({
          locale,
          address: await withRelated(ability, { ...request, locale }, address),
        }));
        return {
          ...report,
          published: published && (await withRelated(ability, request, published)),
          draft: draft && (await withRelated(ability, request, draft)),
          languages: await Promise.all(languages),
          before: report.before && (await readableBefore(ability, report.before)),
        };
      });
      return missing ? { ...result, missing } : result;
    },

    /** What publishing would do on the sites of the settings. Null: no such document that the admin may read. */
    async preview(ability: Ability, request: DocumentRequest): Promise<Result<Preview> | null> {
      const found = await versionsOf(strapi, ability, request);
      if (!found) return null;
      return asResult(async () => {
        const get = await getWith(settings().config().timeoutMs);
        const key = { ...request, locale: found.locale };
        return readPreview(get, key, await namedSites(), mayReadOf(strapi, ability));
      });
    },

    /** What visitors find at a URL of the sites. Null: none of the sites resolves documents. */
    async page(ability: Ability, sites: string[], address: PageAddress): Promise<Result<Page | null>> {
      return asResult(async () => {
        const get = await getWith(settings().config().timeoutMs);
        const pages = await Promise.all(sites.map((site) => readPage(get, site, address)));
        const known = pages.filter((page) => page !== null);
        const found = chosenPage(known, address);
        if (!found) return null;
        const { owner, ...page } = found;
        const document = owner && (await readableOwner(strapi, ability, owner));
        return { ...page, url: owner && !document ? null : page.url, document };
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
          'url' in row
            ? withOwner(ability, row)
            : {
                reason: reasonBySchema(strapi, uid, row.reason),
                labels: await labels(uid, row.reason),
              };
        const reports = Object.entries(rows).map(async ([id, row]) => [id, await report(row)] as const);
        return Object.fromEntries(await Promise.all(reports));
      });
    },

    /** The first causes of problems, for the widget. */
    async overview(ability: Ability, site: string): Promise<Result<Overview>> {
      return asResult(async () => {
        const { findings, runs, isCut } = await report(ability, site);
        const ends = runs.map(({ endedAt }) => endedAt).sort();
        const all = causesOf(findings);
        const causes = all.slice(0, OVERVIEW_CAUSES);
        return {
          ...{ site, total: findings.length, isCut, causes, causeCount: all.length },
          lastCheck: ends.at(-1) ?? null,
        };
      });
    },

    /** A page of what is wrong with the site, of the documents that the admin may read. */
    async findings(ability: Ability, site: string, choice: Choice): Promise<Result<Findings>> {
      return asResult(async () => {
        const { findings, isCut } = await report(ability, site);
        return choose(findings, isCut, choice);
      });
    },

    /** The last runs of URL checks, and the types that the admin may have checked. */
    async checks(ability: Ability, site: string): Promise<Result<Checks>> {
      return asResult(async () => {
        const { runs } = await report(ability, site);
        const own = (await serviceSites()).find(({ key }) => key === site);
        const contentTypes = [];
        for (const uid of own?.contentTypes ?? []) {
          if (await mayReadWholeType(strapi, ability, uid))
            contentTypes.push({ uid, name: nameOf(strapi, uid) });
        }
        const reports = runs.map(({ uid, count, endedAt, isCut, dead }) => ({
          ...{ uid, name: nameOf(strapi, uid), count, endedAt, isCut },
          dead: dead.length,
        }));
        return { checks: reports, contentTypes };
      });
    },

    /** A page of the paths that have moved, of the documents that the admin may read. */
    async moves(
      ability: Ability,
      site: string,
      choice: Pick<Choice, 'search' | 'page' | 'pageSize'>,
    ): Promise<Result<Moves>> {
      return asResult(async () => {
        const response = await read('/api/redirects', site);
        if (response.status === 501) return null;
        const rows = await movesOf(response, mayReadOf(strapi, ability));
        return pageOf(
          movesWith(rows, choice.search, (uid) => typeOf(strapi, uid)),
          choice,
        );
      });
    },

    /** A page of the paths that visitors could not find. */
    async misses(
      ability: Ability,
      site: string,
      choice: Pick<Choice, 'search' | 'page' | 'pageSize'>,
    ): Promise<Result<Misses>> {
      return asResult(async () => {
        const response = await read('/api/misses', site);
        if (response.status === 501) return null;
        const locales = await localesOf(strapi);
        const knowledge = { typeOf: (uid: string) => typeOf(strapi, uid), locales };
        const misses = await missesOf(response, mayReadOf(strapi, ability), knowledge);
        return pageOf(missesWith(misses, choice.search), choice);
      });
    },

    /** A page of the links in content that lead to no page, or with another verdict. */
    async links(
      ability: Ability,
      site: string,
      kind: LinkKind,
      choice: Pick<Choice, 'search' | 'page' | 'pageSize'>,
    ): Promise<Result<Links>> {
      return asResult(async () => {
        const query = { site, verdict: verdictsOf(kind) };
        const get = await getWith(REPORT_MS);
        const response = await cached(['links', query], () => get('/api/links', query, 'validate'));
        if (response.status === 501) return null;
        const links = await linksOf(response, mayReadOf(strapi, ability), (uid) => typeOf(strapi, uid));
        return pageOf(linksWith(links, choice.search), choice);
      });
    },

    /** The links of a document, and to the page at `path`. Null: there is no such document that the admin may read. */
    async documentLinks(
      ability: Ability,
      request: DocumentRequest,
      to: string | undefined,
    ): Promise<Result<DocumentLinks> | null> {
      const found = await versionsOf(strapi, ability, request);
      if (!found) return null;
      return asResult(async () => {
        const site = (await settings().effective()).siteOf(request.uid) || (await this.sites())[0];
        if (!site) return null;
        const get = await getWith(settings().config().timeoutMs);
        const { documentId } = request;
        if ((withoutLinks.get(site) ?? 0) > Date.now()) return null;
        const own = await get('/api/links', { site, documentId }, 'validate');
        // An older service, or one whose settings name no fields.
        if (own.status === 404 || own.status === 501) {
          withoutLinks.set(site, Date.now() + WITHOUT_LINKS_MS);
          return null;
        }
        const incoming = to ? await get('/api/links', { site, to }, 'validate') : null;
        const key = { documentId, locale: found.locale };
        return documentLinksOf(own, incoming, key, mayReadOf(strapi, ability), (uid) => typeOf(strapi, uid));
      });
    },

    /** Clears the row of a path, or all rows. */
    async clearMisses(site: string, row: { path?: string; host?: string }): Promise<Result<Cleared>> {
      return asResult(async () => {
        const { address, validateToken } = await settings().effective();
        const query = { site, pathname: row.path, host: row.host };
        const call = { path: '/api/misses', query, method: 'DELETE' as const, token: validateToken };
        const { status, data } = await client.call(address, { ...call, timeoutMs: REPORT_MS });
        cache?.clear();
        // Without a token in its settings, the service clears nothing.
        if (status === 501) throw new ServiceFailure('wrong-token');
        if (status !== 200) throw new ServiceFailure(status === 400 ? 'unknown-site' : 'older-version');
        return { count: Number(data.cleared) };
      });
    },

    /** The parts that are on, and the types with a rule that the admin may read; null while they are not known. */
    async parts(ability: Ability): Promise<ShownParts> {
      const { parts } = await settings().view();
      const [named, known] = await Promise.all([namedSites(), serviceSites().catch(() => null)]);
      const own = known?.filter(({ key }) => !named.length || named.includes(key));
      const uids = [...new Set(own?.flatMap(({ contentTypes }) => contentTypes))];
      return { ...parts, contentTypes: own ? uids.filter((uid) => mayReadType(strapi, ability, uid)) : null };
    },

    /** What is wrong with the settings. */
    async test(): Promise<ConnectionTest> {
      const { siteOf } = await settings().effective();
      // With a circuit breaker of its own, so that a test always sends its requests.
      const get = await getWith(settings().config().timeoutMs, createClient(createBreaker()));
      return testConnection(get, siteOf(''));
    },

    /** The sites that the settings name, the one of all content types first; else the only one. */
    async ownSites(): Promise<Result<string[]>> {
      const named = await namedSites();
      if (named.length) return { report: named };
      return asResult(async () => {
        const known = await serviceSites();
        return known.length === 1 ? known.map(({ key }) => key) : [];
      });
    },

    /** The same; none while the service fails. */
    async sites(): Promise<string[]> {
      const found = await this.ownSites();
      return 'report' in found ? found.report : [];
    },

    /** Each of them, with the first content type of redirects that the admin may create entries of. */
    async sitesFor(ability: Ability): Promise<Site[]> {
      const [own, known] = await Promise.all([this.sites(), serviceSites().catch(() => [])]);
      return own.map((key) => {
        const redirects = known.find((site) => site.key === key)?.redirects ?? [];
        const types = redirects.map((found) => redirectTypeOf(strapi, ability, found));
        return { key, redirects: types.find((type) => type !== null) ?? null };
      });
    },

    /** The site that the settings name for a content type. */
    async siteOf(uid: string): Promise<string | undefined> {
      return (await settings().effective()).siteOf(uid);
    },

    /** Whether the site has a rule for the content type. */
    async hasRule(site: string, uid: string): Promise<Result<boolean>> {
      return asResult(async () => {
        const own = (await serviceSites()).find(({ key }) => key === site);
        if (!own) throw new ServiceFailure('unknown-site');
        return own.contentTypes.includes(uid);
      });
    },

    /** Starts a run of URL checks, or joins the one in progress. */
    async startCheck(site: string, uid: string): Promise<CheckRun> {
      const { address, validateToken } = await settings().effective();
      return checks.start({ address, token: validateToken, site, uid });
    },
    checkState: (site: string, uid: string): CheckRun => checks.state({ site, uid }),
  };
};

interface Report {
  findings: Finding[];
  runs: Run[];
  /** The service has more than it lists. */
  isCut: boolean;
}

/** The permissions of an admin: equal for all who may read the same. */
const rulesOf = (ability: Ability): string =>
  createHash('sha256')
    .update(JSON.stringify((ability as { rules?: unknown }).rules ?? null))
    .digest('base64');

const nameOf = (strapi: Core.Strapi, uid: string): string =>
  strapi.contentTypes[uid as UID.ContentType]?.info?.displayName ?? uid;

const typeOf = (strapi: Core.Strapi, uid: string) => ({
  typeName: nameOf(strapi, uid),
  isSingle: strapi.contentTypes[uid as UID.ContentType]?.kind === 'singleType',
});

const knowledgeOf = (strapi: Core.Strapi, ability: Ability): Knowledge => ({
  typeOf: (uid) => typeOf(strapi, uid),
  titles: (uid, ids) => titlesOf(strapi, ability, uid, ids),
  labels: (uid, reason) => labelsOf(strapi, uid, reason),
  related: (uid, locale, reason, documentIds) =>
    relatedEntries(strapi, ability, { uid, documentIds, locale: locale || undefined }, reason),
});

/** Which documents of a report the admin may read: one query for a type with conditions. */
const mayReadOf =
  (strapi: Core.Strapi, ability: Ability): MayRead =>
  async (uid, documentIds) => {
    if (!mayReadType(strapi, ability, uid)) return 'none';
    if (await mayReadWholeType(strapi, ability, uid)) return 'all';
    const readable = new Set<string>();
    for (let at = 0; at < documentIds.length; at += BATCH) {
      const ids = documentIds.slice(at, at + BATCH);
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
    versions: {
      published: Boolean(published),
      draft: Boolean(draft && (!published || changed)),
      hasDraft: Boolean(draft),
    },
    locale: locale ?? (published ?? draft)?.locale ?? undefined,
    dates: [published?.updatedAt ?? '', draft?.updatedAt ?? ''].map(String),
  };
};

export type OperationsService = ReturnType<typeof operations>;
export default operations;
