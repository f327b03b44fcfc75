// #region proxy
// proxy.ts
import { missingPage, proxy as proxyOf } from "frontend-map-client/next";
import type { NextRequest } from "next/server";
import { map } from "./lib/map";

/** Routes of the site itself; files of public/ need no line here. */
const OWN = /^\/(search$|missing\/)/;

export const proxy = proxyOf<"main", NextRequest>(map, {
  locales: ["en", "de"],
  redirectRoot: true, // there is no page at /
  isPage: ({ nextUrl }) => !OWN.test(nextUrl.pathname),
  // The page app/missing/[locale], with a status of 404, from this server itself.
  notFound: ({ nextUrl }, locale) =>
    missingPage(`http://127.0.0.1:${process.env.PORT}${nextUrl.basePath}/missing/${locale}`),
});

export const config = { matcher: ["/", "/((?!_next/|api/).+)"] };
// #endregion proxy
