import type { Core } from '@strapi/strapi';
import { errors } from '@strapi/utils';
import type { SettingsInput, SettingsView } from '../../../shared/settings';
import type { PluginConfig } from '../config';
import { createCache } from '../service/cache';
import { effective, view, type Effective } from './effective';
import { readStored, writeStored, type Stored } from './stored';

const CACHE_MS = 5_000;

/** Settings of the configuration and of the settings page. */
const settings = ({ strapi }: { strapi: Core.Strapi }) => {
  const encryption = () => strapi.service('admin::encryption');
  const config = () => strapi.config.get('plugin::frontend-map') as PluginConfig;
  // Read again after five seconds: another instance of Strapi may have changed them.
  const known = createCache<Stored>(CACHE_MS);
  const stored = () => known.get('', () => readStored(strapi));

  const encrypted = (given: string | undefined, before: string): string => {
    if (given === undefined) return before;
    if (!given) return '';
    // Null without `admin.secrets.encryptionKey`; the service is missing in early versions of Strapi 5.
    const text: string | null = encryption()?.encrypt(given) ?? null;
    if (text) return text;
    const message =
      'Strapi has no key to encrypt the token with: set `secrets.encryptionKey` in config/admin';
    throw new errors.ApplicationError(message, { reason: 'no-encryption-key' });
  };

  return {
    config,
    async effective(): Promise<Effective> {
      return effective(config(), await stored(), (text) => encryption()?.decrypt(text) ?? null);
    },
    async view(): Promise<SettingsView> {
      return view(config(), await stored());
    },
    /** Stores the input. Another address drops the tokens of the one before. */
    async update(input: SettingsInput): Promise<void> {
      const before = await stored();
      const tokens = input.url === before.url ? before : { draftToken: '', validateToken: '' };
      const value: Stored = {
        url: input.url,
        draftToken: encrypted(input.draftToken, tokens.draftToken),
        validateToken: encrypted(input.validateToken, tokens.validateToken),
        site: input.site,
        sites: input.sites,
        parts: input.parts,
      };
      await writeStored(strapi, value);
      known.clear();
    },
  };
};

export type SettingsService = ReturnType<typeof settings>;
export default settings;
