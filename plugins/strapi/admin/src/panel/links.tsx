import { Box, Link, Typography } from '@strapi/design-system';
import type * as React from 'react';
import { Link as RouterLink } from 'react-router-dom';
import type { DocumentLinks } from '../../../shared/links';
import { hasLink, type DocumentReport } from '../../../shared/reports';
import type { Loaded } from '../api/loaded';
import { useResult } from '../api/use-result';
import { entryLink } from '../entry-link';
import { linkText } from '../link-text';
import { useText } from '../texts';
import { UrlText } from '../url-text';
import { Warning } from '../warning';

interface Props {
  /** The open version, as a query. */
  query: string;
  /** Changes when it is saved. */
  version: string;
  loaded: Loaded<DocumentReport>;
}

/** The path of the page, if there is one. */
const pathOf = (loaded: Loaded<DocumentReport>): string => {
  const published = loaded.state === 'done' && 'report' in loaded.result && loaded.result.report.published;
  return published && hasLink(published) ? published.path : '';
};

/** Links in this text that lead to no page, and entries that link here. Nothing without either. */
export const LinksView = ({ query, version, loaded }: Props) => {
  const path = pathOf(loaded);
  const isKnown = loaded.state === 'done';
  const own = `/document-links?${query}&${new URLSearchParams({ path })}`;
  const [links] = useResult<DocumentLinks>(isKnown ? own : null, version);
  if (links.state !== 'done' || !('report' in links.result) || !links.result.report) return null;
  return <Found links={links.result.report} />;
};

const Found = ({ links: { broken, links, entries } }: { links: NonNullable<DocumentLinks> }) => {
  const text = useText();
  return (
    <>
      {links.length > 0 && (
        <Section title={text('links.to-check')}>
          {broken > 0 && <Warning>{text('links.broken', { count: broken })}</Warning>}
          <Box tag="ul">
            {links.map((link, at) => (
              <Box tag="li" key={at} paddingTop={1}>
                {link.text && <Typography>{link.text} </Typography>}
                <UrlText url={link.address} />
                <Typography tag="p" variant="pi" textColor="neutral600">
                  {linkText(text, link)}
                </Typography>
              </Box>
            ))}
          </Box>
        </Section>
      )}
      {entries.count > 0 && (
        <Section title={text('links.incoming')}>
          <Typography tag="p">
            {text('links.entries', { count: entries.count, more: String(entries.more) })}
          </Typography>
          <Box tag="ul">
            {entries.first.map((entry) => (
              <li key={`${entry.contentType} ${entry.documentId}`}>
                <Link tag={RouterLink} to={entryLink(entry, entry.isSingle)}>
                  {`${entry.typeName} ${entry.documentId}`}
                </Link>
              </li>
            ))}
          </Box>
        </Section>
      )}
    </>
  );
};

const Section = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <Box data-frontend-map="links">
    <Typography variant="sigma" textColor="neutral600" tag="h3">
      {title}
    </Typography>
    {children}
  </Box>
);
