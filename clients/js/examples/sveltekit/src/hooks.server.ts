// src/hooks.server.ts: redirects, 404s, sitemap files, and event.locals.page
import type { Handle } from "@sveltejs/kit";
import { handle as pages } from "frontend-map-client/sveltekit";
import { textsAt } from "../../shared/texts.ts";
import { map } from "$lib/server/map";

const handlePage = pages(map);

export const handle: Handle = ({ event, resolve }) => {
  const { language } = textsAt(event.url.pathname);
  const transformPageChunk = ({ html }: { html: string }) => html.replace("%lang%", language);
  return handlePage({ event, resolve: (same) => resolve(same, { transformPageChunk }) });
};
