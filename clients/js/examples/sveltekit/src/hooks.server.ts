// src/hooks.server.ts: redirects, 404s, sitemap files, event.locals.page and event.locals.locale
import type { Handle } from "@sveltejs/kit";
import { handle as pages } from "frontend-map-client/sveltekit";
import { map } from "$lib/server/map";

const handlePage = pages(map, { locales: ["en", "de"], redirectRoot: true });

export const handle: Handle = ({ event, resolve }) => {
  const transformPageChunk = ({ html }: { html: string }) => html.replace("%lang%", event.locals.locale);
  return handlePage({ event, resolve: (same) => resolve(same, { transformPageChunk }) });
};
