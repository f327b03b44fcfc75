// src/pages/api/preview.ts: where Strapi's "Open preview" leads
import type { APIRoute } from "astro";
import { begin, end, isSecret } from "../../lib/preview.ts";

export const GET: APIRoute = ({ url, cookies, redirect }) => {
  if (!isSecret(url.searchParams.get("secret") ?? "")) return new Response("Wrong secret", { status: 401 });
  const path = url.searchParams.get("path") ?? "";
  // "//example.org" would lead to another site, also with a tab between the slashes.
  if (!/^\/(?![/\\])[!-~]*$/.test(path)) return new Response("Not a path", { status: 400 });
  begin(cookies);
  return redirect(path, 307);
};

/** Leaves the preview. */
export const POST: APIRoute = ({ cookies, redirect }) => {
  end(cookies);
  return redirect("/", 303);
};
