/** Which parts of the plugin editors see. */
export interface Parts {
  panel: boolean;
  column: boolean;
  widget: boolean;
}

/** The parts that are on, and the content types that have a rule; null where that is not known. */
export interface ShownParts extends Parts {
  contentTypes: string[] | null;
}

/** Where a value comes from: the configuration wins over what the settings page has stored. */
export type Source = 'configuration' | 'stored' | 'unset';

/** What the settings page shows: no secret, only whether it is set. */
export interface SettingsView {
  url: string;
  urlSource: Source;
  draftToken: Source;
  validateToken: Source;
  hookSecret: boolean;
  /** The site of all content types; empty: the only one of the service, or derived from the content type. */
  site: string;
  siteSource: Source;
  /** The site of single content types, where a type has rules in several sites. */
  sites: Record<string, string>;
  parts: Parts;
}

/** What the settings page sends. A token that is left out stays as it is; an empty one is removed. */
export interface SettingsInput {
  url: string;
  draftToken?: string;
  validateToken?: string;
  site: string;
  sites: Record<string, string>;
  parts: Parts;
}
