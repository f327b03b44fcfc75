// #region proxy
// proxy.ts
import { proxy as proxyOf } from "frontend-map-client/next";
import { type NextRequest, NextResponse } from "next/server";
import { map } from "./lib/map";

export const proxy = proxyOf<"main", NextRequest>(map, {
  locales: ["en", "de"],
  redirectRoot: true, // there is no page at /
  // Routes of the site itself; files of public/ need no line here.
  isPage: ({ nextUrl }) => nextUrl.pathname !== "/search",
  // The page app/missing/[locale], with a status of 404.
  notFound: ({ nextUrl }, locale) => {
    // Started with `-H 127.0.0.1`, Next.js sends a rewrite as a request to itself, again and again.
    if (nextUrl.pathname.startsWith("/missing/")) return NextResponse.next({ status: 404 });
    const page = nextUrl.clone();
    page.pathname = `/missing/${locale}`;
    return NextResponse.rewrite(page, { status: 404 });
  },
});

export const config = { matcher: ["/", "/((?!_next/|api/).+)"] };
// #endregion proxy
