/** Where visitors are sent, and the status of a path without a page. */

/** The target of a redirect with the query of the request behind its own, before its fragment. */
export function withSearch(target: string, search: string): string {
  const at = target.indexOf("#");
  const [address, fragment] = at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at)];
  return address + (address.includes("?") ? search.replace("?", "&") : search) + fragment;
}

/** 410 where a redirect of the CMS says that the page is gone, else 404. */
export const missingStatus = (page: { gone?: { status?: number } | undefined }): number => page.gone?.status ?? 404;
