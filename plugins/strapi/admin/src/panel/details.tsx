import { Box, Flex, IconButton, Link, Typography, VisuallyHidden } from '@strapi/design-system';
import { Duplicate } from '@strapi/icons';
import type * as React from 'react';
import { useIntl } from 'react-intl';
import { hasLink, type Check, type Language } from '../../../shared/reports';
import { useLanguageName } from '../language';
import { reasonText } from '../reasons';
import { useText, type Text } from '../texts';
import { UrlText } from '../url-text';
import { useCopy } from './use-copy';

const Section = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <Box paddingBottom={3}>
    <Typography variant="sigma" textColor="neutral600" tag="h3">
      {title}
    </Typography>
    {children}
  </Box>
);

/** The other languages: their pages, or why they have none. */
export const Languages = ({ languages }: { languages: Language[] }) => {
  const text = useText();
  if (!languages.length) return null;
  return (
    <Section title={text('panel.languages')}>
      <Box tag="ul" data-frontend-map="languages">
        {languages.map((language) => (
          <Box tag="li" key={language.locale} paddingTop={1}>
            <LanguageRow language={language} />
          </Box>
        ))}
      </Box>
    </Section>
  );
};

const LanguageRow = ({ language: { locale, address } }: { language: Language }) => {
  const text = useText();
  const copy = useCopy();
  const name = useLanguageName()(locale);
  if (!hasLink(address)) {
    return (
      <Typography>
        {name}: <Typography textColor="neutral600">{reasonText(text, address)}</Typography>
      </Typography>
    );
  }
  return (
    <Flex justifyContent="space-between" gap={2}>
      <Link href={address.url} isExternal>
        {name} <VisuallyHidden>({text('new-tab')})</VisuallyHidden>
      </Link>
      <IconButton
        variant="ghost"
        label={text('panel.copy-language', { language: name })}
        onClick={() => copy(address.url)}
      >
        <Duplicate />
      </IconButton>
    </Flex>
  );
};

/** The service names no more of a version. */
const MAX_FORMER_PATHS = 20;

/** The paths that this document had before. */
export const FormerPaths = ({ paths }: { paths: string[] }) => {
  const text = useText();
  if (!paths.length) return null;
  return (
    <Section title={text('panel.former')}>
      <Box tag="ul">
        {paths.map((path) => (
          <li key={path}>
            <UrlText url={path} />
          </li>
        ))}
      </Box>
      {paths.length >= MAX_FORMER_PATHS && (
        <Typography textColor="neutral600">
          {text('panel.former.cut', { count: MAX_FORMER_PATHS })}
        </Typography>
      )}
    </Section>
  );
};

/** What the last run of URL checks found, in the editor's words. */
export const checkText = (text: Text, { isCurrent, status, ok, reason }: Check): string => {
  if (!isCurrent) return text('panel.checked.before');
  if (status === null) return text('panel.checked.none', { reason: reason ?? '' });
  if (ok) return text('panel.checked.ok', { status });
  return text(status < 400 ? 'panel.checked.redirect' : 'panel.checked.status', { status });
};

export const LastCheck = ({ check }: { check: Check | null }) => {
  const text = useText();
  const { formatDate } = useIntl();
  if (!check) return null;
  const at = formatDate(check.at, { dateStyle: 'short', timeStyle: 'short' });
  const isBad = check.isCurrent && !check.ok;
  return (
    <Section title={text('panel.checked', { at })}>
      <Typography tag="p" textColor={isBad ? 'danger600' : 'neutral800'}>
        {checkText(text, check)}
      </Typography>
    </Section>
  );
};
