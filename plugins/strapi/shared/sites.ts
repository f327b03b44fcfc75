/** The content type whose entries are redirects of a site, where the admin may create one. */
export interface RedirectType {
  uid: string;
  /** The field with the path that redirects. */
  from: string;
  /** The field with the target; null where there is none, or the admin may not set it. */
  to: string | null;
  isLocalized: boolean;
}

export interface Site {
  key: string;
  redirects: RedirectType | null;
}

/** The values of a new redirect for a path that was not found. */
export interface NewRedirect {
  /** Read by the service as exactly this path. */
  from: string;
  to: string | null;
  /** The locale of a localized entry, if it is certain. */
  locale: string | null;
}
