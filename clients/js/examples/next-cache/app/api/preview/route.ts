// #region preview
// app/api/preview/route.ts: where Strapi's "Open preview" leads
import { createHash, timingSafeEqual } from "node:crypto";
import { draftMode } from "next/headers";
import { redirect } from "next/navigation";

export async function GET(request: Request) {
  const { searchParams } = new URL(request.url);
  const path = searchParams.get("path") ?? "";
  const secret = process.env.PREVIEW_SECRET;
  if (!secret || !timingSafeEqual(hash(searchParams.get("secret") ?? ""), hash(secret))) {
    return new Response("Wrong secret", { status: 401 });
  }
  // "//example.org" would lead to another site, also with a tab between the slashes.
  if (!/^\/(?![/\\])[!-~]*$/.test(path)) return new Response("Not a path", { status: 400 });
  (await draftMode()).enable();
  redirect((process.env.BASE_PATH ?? "") + path);
}

const hash = (text: string) => createHash("sha256").update(text).digest();
// #endregion preview
