/** `GET /api/changes`: what has changed since a cursor. */
import { invalidResponse } from "./error.js";
import { dataOf, type Transport } from "./http/transport.js";
import type { components } from "./openapi.js";

type Schemas = components["schemas"];

/** What has happened to a public page. */
export type Change = Schemas["Change"];

/**
 * A part of the changes, in order. `cursor` is for the next call; with `more`, it has changes now;
 * with `reset`, changes are missing: read all pages again.
 */
export type Changes = Schemas["Changes"]["data"];

export interface ChangesOptions {
  /** The `cursor` of the last call; `0` for the oldest; without it, only the present cursor. */
  since?: string | undefined;
  /** Pages that sitemaps leave out, too; sends the token. */
  unlisted?: boolean | undefined;
  /** Ends the call with its reason. */
  signal?: AbortSignal | undefined;
}

/** @throws FrontendMapError while the service fails: a cursor is never repeated from memory. */
export async function changes(
  transport: Transport,
  { since, unlisted = false, signal }: ChangesOptions = {},
): Promise<Changes> {
  const call = { path: "/api/changes", query: { since }, fresh: true, authorized: unlisted, signal };
  const data = dataOf(await transport.text(call)) as Partial<Changes>;
  if (typeof data.cursor !== "string" || !Array.isArray(data.changes)) {
    throw invalidResponse("the response has no cursor or no changes");
  }
  return data as Changes;
}
