// #region proxy
// proxy.ts
import { proxy as proxyOf } from "frontend-map-client/next";
import { NextResponse } from "next/server";
import { map } from "./lib/map";

export const proxy = proxyOf(map, {
  // The page app/[locale]/not-found, with a status of 404.
  notFound: ({ url, nextUrl }) => {
    const locale = nextUrl.pathname.startsWith("/de/") ? "de" : "en";
    const path = `/${locale}/not-found`;
    // Started with `-H 127.0.0.1`, Next.js sends a rewrite as a request to itself, again and again.
    if (nextUrl.pathname === path) return NextResponse.next({ status: 404 });
    return NextResponse.rewrite(new URL(path, url), { status: 404 });
  },
});

export const config = { matcher: "/((?!_next/|api/|favicon.ico).+)" };
// #endregion proxy
