/** Pages that a build leaves out, so that one odd slug does not stop a deployment. */
import type { Page, SiteKey } from "../types.js";

/** A page that the build leaves out, and why; where pages are rendered on demand, it is rendered when it is visited. */
export interface LeftOut<Site = SiteKey> {
  page: Page<Site>;
  reason: string;
}

/** The longest name of a file, 255 bytes, without the longest suffix that a framework appends. */
const MAX_SEGMENT_BYTES = 255 - ".segments".length;

/** Why no file can have this path; null if one can. */
export function fileProblem(path: string): string | null {
  const tooLong = path.split("/").some((segment) => new TextEncoder().encode(decodeURIComponent(segment)).length > MAX_SEGMENT_BYTES);
  return tooLong ? `a segment has more than ${MAX_SEGMENT_BYTES} bytes` : null;
}

/** A path as frameworks take it: decoded, without the slash at its beginning. */
export const decoded = (path: string): string => path.split("/").slice(1).map(decodeURIComponent).join("/");

/** The `reason` of a page that `filter` leaves out. */
export const FILTERED = "the filter";

/** Names each page in the log of the build, but for those that the site itself does not want. */
export function warnOfLeftOut<Site>(pages: LeftOut<Site>[]): void {
  const lines = pages.map(({ page: { path }, reason }) => (reason === FILTERED ? "" : `\n  ${path}: ${reason}`));
  console.warn(`frontend-map leaves out ${pages.length} pages:${lines.join("")}`);
}
