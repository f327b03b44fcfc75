import type { SettingsView, Source } from '../../../shared/settings';
import type { PluginConfig } from '../config';
import { parseAddress } from '../service/address';
import type { Stored } from './stored';

/** What requests to the service use. Never sent to a browser. */
export interface Effective {
  address: string | null;
  draftToken: string | undefined;
  validateToken: string | undefined;
  siteOf(uid: string): string | undefined;
}

type Decrypt = (text: string) => string | null;

/**
 * The configuration wins. A token of the configuration is sent to an address of the configuration
 * only: else an address on the settings page could collect it.
 */
export const effective = (config: PluginConfig, stored: Stored, decrypt: Decrypt): Effective => {
  const token = (configured: string | undefined, encrypted: string): string | undefined => {
    if (configured) return config.url ? configured : undefined;
    // Likewise, a stored token belongs to the stored address.
    return !config.url && encrypted ? (decrypt(encrypted) ?? undefined) : undefined;
  };
  return {
    address: parseAddress(config.url || stored.url),
    draftToken: token(config.draftToken, stored.draftToken),
    validateToken: token(config.validateToken, stored.validateToken),
    siteOf: (uid) => stored.sites[uid] || config.site || stored.site || undefined,
  };
};

const source = (configured: string | undefined, stored: string): Source => {
  if (configured) return 'configuration';
  return stored ? 'stored' : 'unset';
};

/** For the settings page: neither a token nor a part of one. */
export const view = (config: PluginConfig, stored: Stored): SettingsView => ({
  url: config.url || stored.url,
  urlSource: source(config.url, stored.url),
  draftToken: source(config.draftToken, stored.draftToken),
  validateToken: source(config.validateToken, stored.validateToken),
  hookSecret: Boolean(config.hookSecret),
  site: config.site || stored.site,
  siteSource: source(config.site, stored.site),
  sites: stored.sites,
  parts: stored.parts,
});
