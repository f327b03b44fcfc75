import { Box, Link, Typography, VisuallyHidden } from '@strapi/design-system';
import type * as React from 'react';
import { useIntl } from 'react-intl';
import type { CheckedUrl, DocumentReport } from '../../../shared/reports';
import { useText, type Text } from '../texts';

const Section = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <Box paddingBottom={3}>
    <Typography variant="sigma" textColor="neutral600" tag="h3">
      {title}
    </Typography>
    <Box tag="ul">{children}</Box>
  </Box>
);

/** The URLs of the other languages. */
export const othersOf = (alternates: Record<string, string>, own: string): [string, string][] =>
  Object.entries(alternates).filter(([code, url]) => code !== 'x-default' && url !== own);

export const Alternates = ({ alternates }: { alternates: [string, string][] }) => {
  const text = useText();
  if (!alternates.length) return null;
  return (
    <Section title={text('panel.languages')}>
      {alternates.map(([code, url]) => (
        <Box tag="li" key={code} paddingTop={1} paddingBottom={1}>
          <Link href={url} isExternal>
            {code} <VisuallyHidden>({text('new-tab')})</VisuallyHidden>
          </Link>
        </Box>
      ))}
    </Section>
  );
};

/** The paths that this document had before. */
export const FormerPaths = ({ paths }: { paths: string[] }) => {
  const text = useText();
  if (!paths.length) return null;
  return (
    <Section title={text('panel.former')}>
      {paths.map((path) => (
        <li key={path}>
          <Typography dir="ltr" style={{ overflowWrap: 'anywhere' }}>
            {path}
          </Typography>
        </li>
      ))}
    </Section>
  );
};

/** What the last run of URL checks found, in the editor's words. */
export const checkedText = (text: Text, { status, ok, reason }: CheckedUrl): string => {
  if (status === null) return text('panel.checked.none', { reason: reason ?? '' });
  if (ok) return text('panel.checked.ok', { status });
  return text(status < 400 ? 'panel.checked.redirect' : 'panel.checked.status', { status });
};

export const Checked = ({ checked }: { checked: DocumentReport['checked'] }) => {
  const text = useText();
  const { formatDate } = useIntl();
  if (!checked?.urls.length) return null;
  const at = formatDate(checked.at, { dateStyle: 'short', timeStyle: 'short' });
  return (
    <Section title={text('panel.checked', { at })}>
      {checked.urls.map((url) => (
        <li key={url.url}>
          <Typography textColor={url.ok ? 'neutral800' : 'danger600'}>{checkedText(text, url)}</Typography>
        </li>
      ))}
    </Section>
  );
};
