import { useRBAC, Widget } from '@strapi/strapi/admin';
import { Box, Flex, Link, Typography } from '@strapi/design-system';
import { useIntl } from 'react-intl';
import { Link as RouterLink } from 'react-router-dom';
import type { Cause, Overview } from '../../../shared/problems';
import { useResult } from '../api/use-result';
import { entryLink } from '../entry-link';
import { FailureNote } from '../failure-note';
import { findingText } from '../finding-text';
import { NoSite } from '../no-site';
import { lastParts } from '../parts';
import { READ_REPORT } from '../permissions';
import { PLUGIN_ID } from '../plugin-id';
import { useText } from '../texts';

/**
 * The causes of most problems, on the admin's home page. Early versions of Strapi 5 show widgets to
 * admins without the permissions of the widget.
 */
export const ProblemsWidget = () => {
  const { allowedActions, isLoading } = useRBAC(READ_REPORT);
  if (isLoading) return <Widget.Loading />;
  return allowedActions.canReadReport ? <Problems /> : <Widget.NoPermissions />;
};

const Problems = () => {
  const text = useText();
  const isOn = lastParts().widget;
  const [loaded, retry] = useResult<Overview | null>(isOn ? '/overview' : null);

  if (!isOn) return <Widget.NoData>{text('widget.off')}</Widget.NoData>;
  if (loaded.state === 'loading') return <Widget.Loading />;
  if (loaded.state === 'error' || 'failure' in loaded.result)
    return <FailureNote loaded={loaded} retry={retry} />;
  return loaded.result.report ? <Causes overview={loaded.result.report} /> : <NoSite />;
};

/** As high as the frame that Strapi gives to widgets. */
const Causes = ({ overview: { total, isCut, causes, causeCount, lastCheck } }: { overview: Overview }) => {
  const text = useText();
  const { formatDate } = useIntl();
  return (
    <Flex direction="column" alignItems="stretch" gap={2} data-frontend-map="widget">
      <Flex justifyContent="space-between" wrap="wrap" gap={1}>
        <Typography>
          {text('widget.count', { count: total })} {isCut && text('table.truncated')}
        </Typography>
        <Typography variant="pi" textColor="neutral600">
          {lastCheck
            ? text('widget.last', { at: formatDate(lastCheck, { dateStyle: 'short', timeStyle: 'short' }) })
            : text('widget.never')}
        </Typography>
      </Flex>
      <Box tag="ul">
        {causes.map((cause) => (
          <Box tag="li" key={cause.example.cause} paddingBottom={1}>
            <CauseLink cause={cause} />
          </Box>
        ))}
      </Box>
      {causeCount > causes.length && (
        <Typography variant="pi">{text('widget.more', { count: causeCount - causes.length })}</Typography>
      )}
    </Flex>
  );
};

/** To the entry, or to all pages of a cause. */
const CauseLink = ({ cause: { count, example } }: { cause: Cause }) => {
  const text = useText();
  const all = `/plugins/${PLUGIN_ID}?${new URLSearchParams({ cause: example.cause })}`;
  return (
    <>
      <Link tag={RouterLink} to={count === 1 ? entryLink(example, example.isSingle) : all}>
        <bdi>{count === 1 ? (example.title ?? example.documentId) : findingText(text, example)}</bdi>
      </Link>
      <Typography tag="p" variant="pi" textColor="neutral600">
        {count === 1
          ? findingText(text, example)
          : `${example.typeName}: ${text('table.page-count', { count })}`}
      </Typography>
    </>
  );
};
