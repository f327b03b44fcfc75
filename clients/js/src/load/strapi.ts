/** Fetches the content of a page from Strapi 5. */
import type { ContentRequest } from "./load.js";

export interface StrapiOptions {
  /** The address of Strapi, such as `http://strapi:1337`; may have a path. */
  url: string | URL;
  /** An API token that may read the content type, and drafts if they are shown. */
  token?: string | undefined;
  /** Parameters of Strapi's REST API, such as `{ populate: "*", "fields[0]": "title" }`. */
  query?: Record<string, string> | undefined;
  /** Sent with each request that may be cached, such as `{ next: { revalidate: 60 } }`; with `next`, the tags of the page are added. */
  init?: (RequestInit & { next?: { tags?: string[] } & Record<string, unknown> }) | undefined;
}

/** What is used of a page. */
interface Page {
  /** Where Strapi has the document: `/api/articles/<documentId>?locale=de`. */
  resource: string | null;
}

/**
 * A fetcher for documents of one content type; `Content` is that of `data` in Strapi's response. Null
 * if Strapi does not have the document.
 *
 * It throws an Error if Strapi fails or refuses the request, and if the service does not know the
 * endpoint of the content type.
 */
export const strapi =
  <Content extends object = Record<string, unknown>>({ url, token, query = {}, init = {} }: StrapiOptions) =>
  async ({ resource }: Page, { draft, tags, signal }: ContentRequest): Promise<Content | null> => {
    if (resource === null) throw new Error("frontend-map: no `resource`: the service does not know the endpoint of the content type");
    const address = new URL(String(url).replace(/\/$/, "") + resource);
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    if (draft) address.searchParams.set("status", "draft");
    const { next, ...rest } = init;
    const headers = new Headers(init.headers);
    if (token) headers.set("authorization", `Bearer ${token}`);
    // A token must not reach another server.
    const request: RequestInit & { next?: object } = { ...rest, headers, redirect: "manual", signal };
    // No cache may keep a draft.
    if (draft) request.cache = "no-store";
    else if (next) request.next = { ...next, tags: [...(next.tags ?? []), ...tags] };
    return dataOf<Content>(await fetch(address, request), resource);
  };

/** `data` of a response; null if Strapi says that it has no such document: a proxy's 404 says nothing. */
async function dataOf<Content>(response: Response, resource: string): Promise<Content | null> {
  const body = parsed(await response.text()) as { data?: unknown; error?: { name?: unknown } } | null;
  if (response.status === 404 && body?.error?.name === "NotFoundError") return null;
  const { data } = body ?? {};
  if (!response.ok || typeof data !== "object" || data === null) {
    throw new Error(`frontend-map: Strapi: ${resource}: ${response.ok ? "no `data`" : response.status}`);
  }
  return data as Content;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
