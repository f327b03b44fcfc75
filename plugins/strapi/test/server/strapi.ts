import type { Core } from '@strapi/strapi';
import type { Context } from 'koa';
import type { PluginConfig } from '../../server/src/config';
import operations from '../../server/src/operations/service';
import settings from '../../server/src/settings/service';
import { NOTHING_STORED, type Stored } from '../../server/src/settings/stored';

interface Row {
  documentId: string;
  locale: string | null;
  updatedAt: string;
}

/** A Strapi that has the services of the plugin, and content types that its admins may read. */
export const strapiWith = (
  config: Partial<PluginConfig>,
  stored: Partial<Stored> = {},
  types: Record<string, Row[]> = {},
) => {
  const services: Record<string, Record<string, unknown>> = {
    'content-manager': {
      'permission-checker': {
        create: () => ({ can: { read: () => true }, sanitizedQuery: { read: async () => ({}) } }),
      },
      'content-types': { findConfiguration: async () => ({}) },
    },
  };
  const strapi = {
    config: { get: () => ({ timeoutMs: 2_000, cacheMs: 0, ...config }) },
    store: () => ({ get: async () => ({ ...NOTHING_STORED, ...stored }), set: async () => undefined }),
    service: () => undefined,
    plugin: (name: string) => services[name] && { service: (key: string) => services[name]?.[key] },
    contentTypes: Object.fromEntries(Object.keys(types).map((uid) => [uid, { attributes: {} }])),
    // Without a locale, Strapi reads its default one.
    documents: (uid: string) => ({
      findMany: async ({ locale = 'en' }: { locale?: string }) =>
        types[uid]?.filter((row) => locale === '*' || row.locale === null || row.locale === locale),
    }),
  } as unknown as Core.Strapi;
  services['frontend-map'] = { settings: settings({ strapi }), operations: operations({ strapi }) };
  return strapi;
};

/** A request of an admin without conditions. */
export const request = (query: Record<string, string>, body?: unknown): Context =>
  ({
    query,
    request: { body },
    state: { userAbility: { rulesFor: () => [{}] } },
    set: () => undefined,
    throw: (status: number) => {
      throw Object.assign(new Error(String(status)), { status });
    },
  }) as unknown as Context;
