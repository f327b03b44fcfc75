import { useRBAC, Widget } from '@strapi/strapi/admin';
import { Box, Flex, Link, Typography } from '@strapi/design-system';
import { useIntl } from 'react-intl';
import { Link as RouterLink } from 'react-router-dom';
import type { Overview } from '../../../shared/problems';
import { useResult } from '../api/use-result';
import { isSingle, useContentTypes } from '../api/use-content-types';
import { useSites } from '../api/use-sites';
import { entryLink } from '../entry-link';
import { findingsOf, findingText } from '../page/findings';
import { lastParts } from '../parts';
import { READ_REPORT } from '../permissions';
import { useText } from '../texts';

/** Rows that fit; the page of the plugin has the others. */
const MOST_ROWS = 5;

/**
 * Documents without a URL, paths with two owners and dead pages, on the admin's home page. Early
 * versions of Strapi 5 show widgets to admins without the permissions of the widget.
 */
export const ProblemsWidget = () => {
  const { allowedActions, isLoading } = useRBAC(READ_REPORT);
  if (isLoading) return <Widget.Loading />;
  return allowedActions.canReadReport ? <Problems /> : <Widget.NoPermissions />;
};

const Problems = () => {
  const text = useText();
  const site = useSites();
  const first = site?.[0];
  const loaded = useResult<Overview>(first ? `/overview?site=${encodeURIComponent(first)}` : null);

  if (!lastParts().widget) return <Widget.NoData>{text('widget.off')}</Widget.NoData>;
  if (site && !first) return <Widget.NoData>{text('page.no-site')}</Widget.NoData>;
  if (loaded.state === 'loading') return <Widget.Loading />;
  if (loaded.state === 'error') return <Widget.Error />;
  if ('failure' in loaded.result)
    return <Widget.NoData>{text(`failure.${loaded.result.failure}`)}</Widget.NoData>;
  return <Findings overview={loaded.result.report} />;
};

const Findings = ({ overview }: { overview: Overview }) => {
  const text = useText();
  const { formatDate } = useIntl();
  const types = useContentTypes();
  const findings = findingsOf(overview);
  const last = overview.checks
    .map(({ endedAt }) => endedAt)
    .sort()
    .at(-1);
  return (
    <Flex direction="column" alignItems="stretch" gap={3} data-frontend-map="widget">
      <Typography>{text('widget.count', { count: findings.length })}</Typography>
      <Box tag="ul">
        {findings.slice(0, MOST_ROWS).map((finding) => (
          <Box tag="li" key={finding.key} paddingBottom={2}>
            <Link
              tag={RouterLink}
              to={entryLink(finding.version, isSingle(types, finding.version.contentType))}
            >
              <bdi>{finding.version.title ?? finding.version.documentId}</bdi>
            </Link>
            <Typography tag="p" variant="pi" textColor="neutral600">
              {findingText(text, finding)}
            </Typography>
          </Box>
        ))}
      </Box>
      <Typography variant="pi" textColor="neutral600">
        {last
          ? text('widget.last', { at: formatDate(last, { dateStyle: 'short', timeStyle: 'short' }) })
          : text('widget.never')}
      </Typography>
    </Flex>
  );
};
