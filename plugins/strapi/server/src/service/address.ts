/**
 * The base URL of the service without a slash at the end; null unless it is http or https without
 * user information, query and fragment.
 */
export const parseAddress = (text: unknown): string | null => {
  if (typeof text !== 'string' || !URL.canParse(text.trim())) return null;
  const url = new URL(text.trim());
  const isPlain = !url.username && !url.password && !url.search && !url.hash;
  if (!['http:', 'https:'].includes(url.protocol) || !isPlain) return null;
  return url.origin + url.pathname.replace(/\/+$/, '');
};
