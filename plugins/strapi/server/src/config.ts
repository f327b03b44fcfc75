import { parseAddress } from './service/address';

/** What `config/plugins` and the environment may set; what is missing comes from the settings page. */
export interface PluginConfig {
  /** Where Strapi reaches the service. */
  url?: string;
  /** The service's token for drafts (`auth.draft_token_file`). */
  draftToken?: string;
  /** The service's `auth.validate_token`. */
  validateToken?: string;
  /** The service's `hooks.secret`, for the webhook. */
  hookSecret?: string;
  /** The key of the site in the settings of the service. */
  site?: string;
  /** Milliseconds for what editors wait for. */
  timeoutMs: number;
  /** Milliseconds in which a result is used again. */
  cacheMs: number;
}

/** As the service has it. */
export const SITE_KEY = /^[A-Za-z0-9._-]{1,64}$/;

type Env = (name: string) => string | undefined;

const defaults = ({ env }: { env: Env }): PluginConfig => ({
  url: env('FRONTEND_MAP_URL'),
  draftToken: env('FRONTEND_MAP_DRAFT_TOKEN'),
  validateToken: env('FRONTEND_MAP_VALIDATE_TOKEN'),
  hookSecret: env('FRONTEND_MAP_HOOK_SECRET'),
  site: env('FRONTEND_MAP_SITE'),
  timeoutMs: 2_000,
  cacheMs: 5_000,
});

const validator = (config: PluginConfig): void => {
  if (config.url && !parseAddress(config.url)) {
    throw new Error('`url` must be an http(s) address without user information, query and fragment');
  }
  if (config.site && !SITE_KEY.test(config.site)) {
    throw new Error('`site` must be the key of a site: letters, digits, and `._-`');
  }
  for (const name of ['timeoutMs', 'cacheMs'] as const) {
    if (!Number.isInteger(config[name]) || config[name] < 0 || config[name] > 60_000) {
      throw new Error(`\`${name}\` must be a number of milliseconds, at most 60000`);
    }
  }
};

export default { default: defaults, validator };
