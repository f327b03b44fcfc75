// #region changed
// app/api/changed/route.ts: the url of [[notify]] in the service's settings
import { revalidate } from "frontend-map-client/next";
import { revalidatePath, revalidateTag } from "next/cache";
import { map, TAG } from "@/lib/map";

const secret = process.env.FRONTEND_MAP_WEBHOOK_SECRET!;

export const POST = (request: Request) =>
  revalidate(map, { secret, tag: TAG, revalidateTag, revalidatePath })(request);
// #endregion changed
