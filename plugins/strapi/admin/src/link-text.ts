import type { ContentLink } from '../../shared/links';
import type { Text } from './texts';

/** What is at the address of a link, in the editor's words. */
export const linkText = (text: Text, { verdict, to }: Pick<ContentLink, 'verdict' | 'to'>): string => {
  if (verdict === 'other_locale')
    return to ? text('links.other_locale.to', { to }) : text('links.other_locale');
  return text(`links.${verdict}`, { to: to ?? '' });
};
