import type { Core } from '@strapi/strapi';
import type { Parts } from '../../../shared/settings';

/** The settings as they are in the database; tokens are encrypted by Strapi. */
export interface Stored {
  url: string;
  draftToken: string;
  validateToken: string;
  site: string;
  sites: Record<string, string>;
  parts: Parts;
}

export const NOTHING_STORED: Stored = {
  url: '',
  draftToken: '',
  validateToken: '',
  site: '',
  sites: {},
  parts: { panel: true, column: true, widget: true },
};

const KEY = { type: 'plugin', name: 'frontend-map', key: 'settings' } as const;

export const readStored = async (strapi: Core.Strapi): Promise<Stored> => {
  const found = (await strapi.store!(KEY).get({})) as Partial<Stored> | null;
  return { ...NOTHING_STORED, ...found };
};

export const writeStored = async (strapi: Core.Strapi, value: Stored): Promise<void> => {
  await strapi.store!(KEY).set({ value });
};
