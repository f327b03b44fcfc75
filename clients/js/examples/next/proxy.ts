// #region proxy
// proxy.ts
import { proxy as proxyOf } from "frontend-map-client/next";
import { NextResponse } from "next/server";
import { map } from "./lib/map";

export const proxy = proxyOf(map, {
  // The page app/[locale]/not-found, with a status of 404.
  notFound: ({ url, nextUrl }) => {
    const locale = nextUrl.pathname.startsWith("/de/") ? "de" : "en";
    return NextResponse.rewrite(new URL(`/${locale}/not-found`, url), { status: 404 });
  },
});

export const config = { matcher: "/((?!_next/|api/|favicon.ico).+)" };
// #endregion proxy
