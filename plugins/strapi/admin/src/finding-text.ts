import type { Finding } from '../../shared/problems';
import { reasonText } from './reasons';
import type { Text } from './texts';
import { decoded } from './decoded';

/** What is wrong with a version, and with all of the same cause. */
export const findingText = (
  text: Text,
  { kind, reason = '', labels, related, status, url, redirectProblem }: Finding,
): string => {
  if (kind === 'no_url')
    return reasonText(text, { reason, ...(labels && { labels }), ...(related && { related }) });
  if (kind === 'dead') return text('finding.dead', { detail: status ?? '' });
  if (redirectProblem)
    return text(`finding.${redirectProblem}`, { path: decoded(url ?? ''), detail: status ?? '' });
  return text('finding.shared', { path: decoded(url ?? '') });
};
