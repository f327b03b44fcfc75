/** Sitemap files of a site, where it has them. */
import type { FrontendMap } from "../client.js";
import type { SiteKey } from "../types.js";

/**
 * The sitemap file at a pathname without the base path; null for other paths.
 *
 * @param sitemapPath that of the site in the service's settings.
 * @throws FrontendMapError as `map.sitemap`.
 */
export async function sitemapFileAt<Site extends SiteKey>(
  map: FrontendMap<Site>,
  { url, method, headers }: Request,
  pathname: string,
  { host, sitemapPath = "/sitemaps" }: { host: string | undefined; sitemapPath?: string | undefined },
): Promise<Response | null> {
  const folder = `${sitemapPath.replace(/\/$/, "")}/`;
  // At the root, files of the site itself would look like those of the service.
  const inFolder = pathname.startsWith(folder) && (folder !== "/" || pathname.endsWith(".xml"));
  const path = inFolder ? `/sitemaps/${pathname.slice(folder.length)}` : pathname;
  // Not `new URL(path, url)`: a path may begin with two slashes.
  const at = Object.assign(new URL(url), { pathname: path });
  const file = await map.sitemap(new Request(at, { method, headers }), { host });
  return folder === "/" && file?.status === 404 ? null : file;
}
