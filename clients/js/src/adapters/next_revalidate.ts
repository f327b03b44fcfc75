/** Webhooks of the service: which pages Next.js renders anew. */
import type { FrontendMap } from "../client.js";
import { FrontendMapError } from "../error.js";
import { pathTag } from "../http/transport.js";
import type { SiteKey } from "../types.js";
import { onFailure } from "./next_request.js";

interface RevalidateOptions {
  /** That of the webhook; several while they are exchanged. */
  secret: string | readonly string[];
  /** The first of the client's `init.next.tags`. */
  tag: string;
  revalidateTag(tag: string, profile: "max"): unknown;
  revalidatePath(path: string): unknown;
}

/**
 * A `POST` for the service's webhooks. Pages become stale, and stay until there are new ones: a
 * service that fails takes no page away. What is kept of a path that had no page, or has none now,
 * is thrown away.
 */
export function revalidate<Site extends SiteKey>(map: FrontendMap<Site>, { secret, tag, ...next }: RevalidateOptions) {
  return async (request: Request): Promise<Response> => {
    const event = await map.verifyWebhook(request, secret).catch(onFailure((error) => error));
    if (event instanceof FrontendMapError) return new Response(event.reason, { status: event.status ?? 500 });
    const { reset, changes } = event.data;
    // Any page may have a link to one with another URL.
    if (reset || changes.some(({ type }) => type !== "updated")) next.revalidateTag(tag, "max");
    // Where pages change places, another page has been there.
    const left = new Set(changes.map(({ type, from }) => type === "moved" && from));
    for (const { type, path, from } of changes) {
      if (type === "updated") next.revalidateTag(pathTag(tag, path), "max");
      else throwAway(path);
      // A redirect of the CMS leads from another path now.
      if (type === "redirect" && from && from !== path) throwAway(from);
    }
    function throwAway(path: string) {
      // What is kept at all paths below one is stale by the tag.
      if (left.has(path) || path.endsWith("/*")) return;
      for (const one of new Set([path, named(path)])) next.revalidatePath(one);
    }
    return new Response(null, { status: 204 });
  };
}

/** A path as Next.js names what it keeps there: decoded, except for what would end a segment. */
const named = (path: string) => path.split("/").map(namedSegment).join("/");
const namedSegment = (segment: string) =>
  decodeURIComponent(segment).replace(/[/#?\\]|%(2f|23|3f|5c)/gi, (one) => encodeURIComponent(one));
