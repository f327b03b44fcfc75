import type { Failure } from '../../../shared/failures';
import type { Findings } from '../../../shared/problems';
import { hasLink, type Address, type DocumentReport } from '../../../shared/reports';
import type { Page } from '../operations/page';
import { isRecord, record, type Row } from '../service/records';

/** Why there is no answer, for an agent that cannot change the settings itself. */
export const FAILURE_SENTENCES: Record<Failure, string> = {
  'not-configured':
    'The address of frontend-map is not set. An administrator sets it in the settings of Frontend Map.',
  unreachable: 'frontend-map cannot be reached at present. Try again later.',
  timeout: 'frontend-map did not respond in time. Try again in a few seconds.',
  redirected:
    'The address of frontend-map redirects. An administrator has to set the address of the service itself.',
  'not-the-service': 'The address in the settings of Frontend Map does not lead to frontend-map.',
  'older-version': 'This version of frontend-map is too old for this tool.',
  'wrong-token': 'frontend-map refused the token in the settings of Frontend Map, or needs one.',
  'unknown-site': 'The site in the settings of Frontend Map is missing, or frontend-map does not have it.',
  'cms-failed': 'frontend-map cannot read Strapi. Try again later.',
  busy: 'frontend-map is starting or busy. Try again in a few seconds.',
};

export const noPreview = (reason: string): string =>
  `frontend-map cannot say what publishing would do: the reason is ${reason}.`;

export const noRule = (uid: string): string => `No rule of frontend-map builds a URL for ${uid}.`;

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const without = ({ reason, rule }: { reason: string; rule?: string | null }): string =>
  `the reason is ${reason}${rule ? `, of the rule ${rule}` : ''}`;

const addressText = (address: Address, live: string, missing: string): string => {
  if (!hasLink(address)) return `${missing}: ${without(address)}.`;
  const isShared = address.owner !== undefined;
  return `${live} ${address.url}${isShared ? ', but this opens another document, which owns the path' : ''}.`;
};

export const documentText = ({ published, draft }: DocumentReport): string => {
  const now = published
    ? addressText(published, 'The public URL is', 'The document has no public URL')
    : 'This version is not published, so it has no public URL.';
  if (!draft) return now;
  return `${now} ${addressText(draft, 'After publication it is', 'After publication it has no URL')}`;
};

const UNREADABLE = 'a document that this token may not read';

const targetOf = ({ document, page, url }: Page): string => {
  if (page) return `the page ${JSON.stringify(page)}, which is not in Strapi`;
  if (!document) return url ?? UNREADABLE;
  const { contentType, documentId, locale, title } = document;
  const named = title ? ` (${JSON.stringify(title)})` : '';
  return `the document ${documentId}${named} of ${contentType} in the locale ${locale}`;
};

export const pageText = (page: Page): string => {
  const { kind, redirect, goneSince, url } = page;
  if (kind === 'none') {
    const before = goneSince ? ` A document had it until ${goneSince} that is not published now.` : '';
    return `There is no page at this URL.${before}`;
  }
  const how = redirect ? `redirects with status ${redirect.status} to` : 'opens';
  // Also the host may be another one than in the question.
  const own = url && targetOf(page) !== url ? `, whose URL is ${url}` : '';
  return `This URL ${how} ${targetOf(page)}${own}.`;
};

export const problemsText = (
  uid: string,
  { site, page }: { site: string; page: number },
  { findings, isCut }: Findings,
): string => {
  const { count = 0, rows = [], pageCount = 0 } = findings ?? {};
  const listed = rows.length < count ? ` Page ${page} of ${pageCount} has ${rows.length} of them.` : '';
  const cut = isCut ? ' frontend-map has more problems than it lists.' : '';
  return `${count} ${count === 1 ? 'problem' : 'problems'} of ${uid} in the site ${site}.${listed}${cut}`;
};

/** `3 pages`, or `3 pages or more` where the service does not know them all. */
const pagesText = (group: unknown): string | null => {
  const { count, more } = record(group);
  if (typeof count !== 'number' || (!count && more !== true)) return null;
  return `${count} ${count === 1 ? 'page' : 'pages'}${more === true ? ' or more' : ''}`;
};

const WINNERS: Record<string, string> = {
  this: 'visitors would see this document in its place',
  other: 'visitors would still see that one',
};

const conflictText = ({ path, document, page, rule, wins }: Row): string => {
  if (!isRecord(document) && text(page) === null) {
    return `The path ${path} matches the rule ${rule} of another content type, so visitors would not see this document.`;
  }
  const { contentType, documentId } = record(document);
  const named = typeof documentId === 'string' ? `the document ${documentId} of ${contentType}` : UNREADABLE;
  const owner = typeof page === 'string' ? `the page ${JSON.stringify(page)}, which is not in Strapi` : named;
  const winner = WINNERS[String(wins)] ?? 'it is not known which of both visitors would see';
  return `The path ${path} belongs to ${owner}; ${winner}.`;
};

const redirectText = ({ document, to, force }: Row, hasPage: boolean): string => {
  const { documentId } = record(document);
  const named = typeof documentId === 'string' ? `The redirect ${documentId}` : 'A redirect';
  const target = typeof to === 'string' ? `leads to ${to}` : 'says that the page is gone';
  if (force) return `${named} comes before this page and ${target}, so visitors would not see the page.`;
  return hasPage
    ? `${named} has the same path and has no effect while a page is there.`
    : `${named} has the path then and ${target}.`;
};

/** What one action would do, without what stays as it is. */
const effectText = (effect: Row): string[] => {
  const { url, path, noPath, unpublished, conflict, redirect, moves, dependents, gone } = effect;
  const sentences = [];
  const { reason, rule } = record(noPath);
  if (typeof reason === 'string') sentences.push(`No URL: ${without({ reason, rule: text(rule) })}.`);
  else if (text(url) ?? text(path)) sentences.push(`The URL is ${text(url) ?? text(path)}.`);
  if (Array.isArray(unpublished) && unpublished.length) {
    const fields = unpublished.map((one) => record(one).field).join(', ');
    sentences.push(`It would be without related documents that are not published: ${fields}.`);
  }
  if (isRecord(conflict)) sentences.push(conflictText(conflict));
  if (isRecord(redirect)) sentences.push(redirectText(redirect, text(path) !== null));
  if (isRecord(moves)) {
    const { from, to, redirects, redirect: decides } = moves;
    const otherwise = isRecord(decides) ? 'has another redirect' : 'does not redirect';
    const after = redirects ? 'redirects' : otherwise;
    sentences.push(`The page moves from ${from} to ${to}, and the old path ${after}.`);
  }
  const along = pagesText(dependents);
  if (along) sentences.push(`Of other documents, ${along} would move along.`);
  const lost = pagesText(gone);
  if (lost) sentences.push(`Visitors would not find ${lost} any more.`);
  return sentences;
};

const CONDITIONS = { publish: 'If published', unpublish: 'If unpublished', delete: 'If deleted' };

/** The main facts of the service's own answer, of which later versions may have more. */
export const previewText = (sites: Row[]): string => {
  const lines = sites.flatMap((effects) =>
    Object.entries(CONDITIONS).map(([name, words]) => {
      const sentences = effectText(record(effects[name]));
      const where = sites.length > 1 ? ` on the site ${effects.site}` : '';
      return `${words}${where}: ${sentences.length ? sentences.join(' ') : 'No URL changes.'}`;
    }),
  );
  return lines.join('\n');
};
