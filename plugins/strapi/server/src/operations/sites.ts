import type { ServiceResponse } from '../service/client';
import { ServiceFailure } from '../service/failure';
import { rows } from '../service/records';

/** A site of the service, and the content types that have a rule in it. */
export interface ServiceSite {
  key: string;
  contentTypes: string[];
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

export const sitesOf = ({ status, data }: ServiceResponse): ServiceSite[] => {
  if (status !== 200 || !Array.isArray(data.sites)) throw new ServiceFailure('older-version');
  return rows(data.sites).map(({ key, contentTypes }) => ({
    key: String(key),
    contentTypes: texts(contentTypes),
  }));
};
