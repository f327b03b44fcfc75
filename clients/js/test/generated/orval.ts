import { resolve } from "./orval/api.js";

export async function call(baseUrl: string): Promise<string> {
  const fetched = globalThis.fetch;
  // Its paths have no host; a site has a proxy for them.
  globalThis.fetch = (path, init) => fetched(new URL(String(path), baseUrl), init);
  const response = await resolve({ site: "main", pathname: "/en/about" });
  if (response.status !== 200) throw new Error(String(response.status));
  const page = response.data.data;
  return page.kind === "document" ? page.documentId satisfies string : page.kind;
}
