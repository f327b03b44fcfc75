import createClient from "openapi-fetch";
import type { paths } from "./openapi-typescript/schema.js";

export async function call(baseUrl: string): Promise<string> {
  const { data, error } = await createClient<paths>({ baseUrl }).GET("/api/resolve", {
    params: { query: { site: "main", pathname: "/en/about" } },
  });
  if (data === undefined) throw new Error(error?.error.message);
  const page = data.data;
  // Narrowed by `kind`: only a document has an id.
  return page.kind === "document" ? page.documentId satisfies string : page.kind;
}
