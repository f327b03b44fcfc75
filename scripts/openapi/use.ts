// What a frontend does with the types of docs/openapi.yaml; it compiles if they are usable.
import type { components, paths } from "./schema";

type Json<Path extends keyof paths, Status extends number> = paths[Path] extends {
  get: { responses: Record<Status, { content: { "application/json": infer Body } }> };
}
  ? Body
  : never;

export function linkOf(body: Json<"/api/frontend-url", 200>): string {
  return body.data.url;
}

export function reasonOf(body: Json<"/api/frontend-url", 404>): string | undefined {
  return body.error.details?.reason;
}

export function linksOf(body: Json<"/api/frontend-urls", 200>): string[] {
  return body.data.results.flatMap(({ url }) => url ?? []);
}

export function typeOf(body: Json<"/api/get-content-type", 200>): string {
  return "contentType" in body.data ? body.data.contentType : body.data.matched.collectionType;
}

export function documentOf(body: Json<"/api/resolve", 200>): string | null {
  return body.data.documentId;
}

export function breadcrumbsOf(body: Json<"/api/resolve", 200>): string[] {
  return body.data.kind === "document" ? body.data.breadcrumbs.map(({ path }) => path) : [];
}

export function deadSince(body: Json<"/api/validations", 200>): Map<string, string> {
  const dead = body.data.validations.flatMap((run) => run.dead);
  return new Map(dead.map(({ url, since }) => [url, since]));
}

export const name: components["schemas"]["NotFoundError"]["error"]["name"] = "NotFoundError";
