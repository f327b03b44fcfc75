/** Client of frontend-map: from paths to content, and from content to URLs. */
export type { Change, Changes, ChangesOptions } from "./changes.js";
export { createFrontendMap, type FrontendMap } from "./client.js";
export { FrontendMapError } from "./error.js";
export type { Linked, LinkOptions } from "./links.js";
export type { Options } from "./options.js";
export type { LeftOut } from "./pages/left_out.js";
export type { Pages, PagesOptions } from "./pages/pages.js";
export type { StaticParams } from "./pages/static_params.js";
export type { ResolveOptions } from "./resolve.js";
export type { SitemapOptions } from "./sitemap.js";
export type {
  ContentType,
  DocumentPage,
  DocumentRef,
  DocumentUrl,
  LastGood,
  Locale,
  Match,
  Moved,
  NoPage,
  Page,
  PageName,
  PageOutside,
  RedirectTarget,
  Resolution,
  SiteKey,
  Sites,
} from "./types.js";
export type { WebhookEvent } from "./webhook.js";
