import { useRBAC } from '@strapi/strapi/admin';
import { Box, Button, Flex, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import { useIntl } from 'react-intl';
import { useSearchParams } from 'react-router-dom';
import type { CheckReport } from '../../../shared/problems';
import { nameOf, type ContentType } from '../api/use-content-types';
import { RUN_CHECK } from '../permissions';
import { useText, type Text } from '../texts';
import type { CheckRun } from '../../../shared/check';
import { useCheck } from './use-check';

interface Props {
  site: string;
  checks: CheckReport[];
  types: ContentType[];
  onDone: () => void;
}

/** The last runs of URL checks, and *Run now*. */
export const CheckPanel = ({ site, checks, types, onDone }: Props) => {
  const text = useText();
  const { formatDate } = useIntl();
  const { allowedActions } = useRBAC(RUN_CHECK);
  return (
    <Box>
      <Typography variant="beta" tag="h2" paddingBottom={2}>
        {text('check.title')}
      </Typography>
      {!checks.length && <Typography tag="p">{text('widget.never')}</Typography>}
      <Box tag="ul" paddingBottom={4}>
        {checks.map(({ contentType, count, dead, endedAt }) => (
          <Typography tag="li" key={contentType}>
            {text('check.row', {
              type: nameOf(types, contentType),
              at: formatDate(endedAt, { dateStyle: 'short', timeStyle: 'short' }),
              dead: dead.length,
              count: count ?? '–',
            })}
          </Typography>
        ))}
      </Box>
      {allowedActions.canRunCheck && <Run site={site} types={types} onDone={onDone} />}
    </Box>
  );
};

const Run = ({ site, types, onDone }: Omit<Props, 'checks'>) => {
  const text = useText();
  // In the address bar, so that a page that is loaded again shows the run in progress.
  const [query, setQuery] = useSearchParams();
  const uid = query.get('check') ?? '';
  const { run, start } = useCheck(site, uid, onDone);
  return (
    <Flex gap={2} wrap="wrap">
      <SingleSelect
        aria-label={text('table.type')}
        placeholder={text('table.type')}
        value={uid || null}
        onChange={(value) => setQuery({ check: String(value ?? '') }, { replace: true })}
      >
        {types.map((type) => (
          <SingleSelectOption key={type.uid} value={type.uid}>
            {type.name}
          </SingleSelectOption>
        ))}
      </SingleSelect>
      <Button onClick={start} disabled={!uid || run.state === 'running'} loading={run.state === 'running'}>
        {text('check.run')}
      </Button>
      <Typography role="status">{runText(text, run)}</Typography>
    </Flex>
  );
};

const runText = (text: Text, run: CheckRun): string => {
  if (run.state === 'none') return '';
  if (run.state === 'failed') {
    return run.failure === 'unknown-site' ? text('check.no-rule') : text(`failure.${run.failure}`);
  }
  const values = { checked: run.checked, total: run.total };
  return text(run.state === 'running' ? 'check.running' : 'check.done', values);
};
