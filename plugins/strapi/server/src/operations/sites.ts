import type { ServiceResponse } from '../service/client';
import { ServiceFailure } from '../service/failure';
import { rows } from '../service/records';

/** A content type whose entries are redirects, and its fields. */
export interface ServiceRedirects {
  uid: string;
  from: string;
  to: string | null;
}

/** A site of the service, the content types that have a rule in it, and those of its redirects. */
export interface ServiceSite {
  key: string;
  contentTypes: string[];
  redirects: ServiceRedirects[];
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

export const sitesOf = ({ status, data }: ServiceResponse): ServiceSite[] => {
  if (status !== 200 || !Array.isArray(data.sites)) throw new ServiceFailure('older-version');
  return rows(data.sites).map(({ key, contentTypes, redirects }) => ({
    key: String(key),
    contentTypes: texts(contentTypes),
    // An earlier version of the service has none.
    redirects: rows(redirects ?? []).map(({ contentType, from, to }) => ({
      uid: String(contentType),
      from: String(from),
      to: typeof to === 'string' ? to : null,
    })),
  }));
};
