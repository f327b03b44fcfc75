// app/api/preview/exit/route.ts
import { draftMode } from "next/headers";

// A POST: links are fetched in advance.
export async function POST() {
  (await draftMode()).disable();
  return new Response(null, { status: 303, headers: { location: `${process.env.BASE_PATH ?? ""}/` } });
}
