/** The documents that the examples show: of Strapi, or of the file that the service reads too. */
import { readFile } from "node:fs/promises";

const { STRAPI_URL, STRAPI_TOKEN, CONTENT } = process.env;

/** Where Strapi's REST API has each content type. */
const ENDPOINTS = { "api::article.article": "articles", "api::page.page": "pages" };

export type ContentType = keyof typeof ENDPOINTS;

export interface Document {
  documentId: string;
  locale?: string;
  title: string;
  body?: string;
}

interface Version {
  locale: string;
  draft?: boolean | undefined;
}

/** A document, or undefined if it is gone. */
export async function document(type: ContentType, documentId: string, version: Version): Promise<Document | undefined> {
  if (STRAPI_URL) return (await strapi<Document>(`${ENDPOINTS[type]}/${documentId}`, version)) ?? undefined;
  return (await file(type, version)).find((one) => one.documentId === documentId);
}

/**
 * In place of Strapi's, the fetcher of a site whose service reads a file, and knows no `resource`:
 * content of a page, or null if it is gone.
 */
export const demo = STRAPI_URL && !CONTENT
  ? undefined
  : async ({ contentType, documentId, locale }: { contentType: ContentType; documentId: string; locale: string }, { draft }: { draft: boolean }) =>
      (await document(contentType, documentId, { locale, draft })) ?? null;

/** The first documents by title. */
export async function documents(type: ContentType, version: Version, limit = 100): Promise<Document[]> {
  const order = { sort: "title", "pagination[pageSize]": String(limit) };
  if (STRAPI_URL) return (await strapi<Document[]>(ENDPOINTS[type], version, order)) ?? [];
  const all = await file(type, version);
  return all.sort((a, b) => a.title.localeCompare(b.title)).slice(0, limit);
}

async function strapi<T>(path: string, { locale, draft }: Version, more: Record<string, string> = {}): Promise<T | null> {
  const query = new URLSearchParams({ locale, status: draft ? "draft" : "published", ...more });
  const headers = { authorization: `Bearer ${STRAPI_TOKEN}` };
  const response = await fetch(`${STRAPI_URL}/api/${path}?${query}`, { headers });
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`Strapi: ${response.status}`);
  return (await response.json()).data;
}

/** Where a document has no draft, the published version is its draft. */
async function file(type: ContentType, { locale, draft }: Version): Promise<Document[]> {
  const all: (Document & { status: string })[] = JSON.parse(await readFile(CONTENT ?? "content.json", "utf8"))[type];
  const versions = all.filter((one) => one.locale === undefined || one.locale === locale);
  const drafts = draft ? versions.filter(({ status }) => status === "draft") : [];
  const drafted = new Set(drafts.map(({ documentId }) => documentId));
  return [...drafts, ...versions.filter((one) => one.status === "published" && !drafted.has(one.documentId))];
}
