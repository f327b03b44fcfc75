import { ServiceFailure } from './failure';

/** The URL of a page. Browsers follow it from the admin panel, so it must not be a `javascript:` URL. */
export const pageUrl = (value: unknown): string => {
  const isPage =
    typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  if (!isPage) throw new ServiceFailure('not-the-service');
  return value;
};
