import { createClient } from "./hey-api/client/index.js";
import { resolve } from "./hey-api/sdk.gen.js";

export async function call(baseUrl: string): Promise<string> {
  const client = createClient({ baseUrl });
  const { data, error } = await resolve({ client, query: { site: "main", pathname: "/en/about" } });
  if (data === undefined) throw new Error(JSON.stringify(error));
  const page = data.data;
  return page.kind === "document" ? page.documentId satisfies string : page.kind;
}
