import { useRBAC } from '@strapi/strapi/admin';
import { Box, Button, Flex, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import * as React from 'react';
import { useIntl } from 'react-intl';
import type { CheckRun } from '../../../shared/check';
import type { Checks, ContentType } from '../../../shared/problems';
import { useResult } from '../api/use-result';
import { RUN_CHECK } from '../permissions';
import { useText, type Text } from '../texts';
import type { PageState } from './state';
import { Shown } from './table';
import { useCheck } from './use-check';

interface Props {
  site: string;
  state: PageState;
}

/** *Run now*, and the last runs of URL checks. */
export const CheckPanel = ({ site, state }: Props) => {
  const [version, setVersion] = React.useState(0);
  const { allowedActions } = useRBAC(RUN_CHECK);
  return (
    <Shown of={useResult<Checks>(state.path('/checks', site), String(version))}>
      {({ checks, contentTypes }) => (
        <>
          {allowedActions.canRunCheck && (
            <Run
              site={site}
              state={state}
              types={contentTypes}
              onDone={() => setVersion((last) => last + 1)}
            />
          )}
          <LastRuns checks={checks} />
        </>
      )}
    </Shown>
  );
};

const LastRuns = ({ checks }: Pick<Checks, 'checks'>) => {
  const text = useText();
  const { formatDate } = useIntl();
  if (!checks.length) return <Typography tag="p">{text('widget.never')}</Typography>;
  return (
    <Box tag="ul">
      {checks.map(({ uid, name, count, dead, isCut, endedAt }) => (
        <Typography tag="li" key={uid}>
          {text('check.row', {
            type: name,
            at: formatDate(endedAt, { dateStyle: 'short', timeStyle: 'short' }),
            dead,
            count: count ?? '–',
          })}{' '}
          {isCut && text('check.truncated')}
        </Typography>
      ))}
    </Box>
  );
};

const Run = ({ site, state, types, onDone }: Props & { types: ContentType[]; onDone: () => void }) => {
  const text = useText();
  // In the address bar, so that a page that is loaded again shows the run in progress.
  const uid = state.of('check');
  const { run, start } = useCheck(site, uid, onDone);
  return (
    <Flex gap={2} wrap="wrap">
      <SingleSelect
        aria-label={text('table.type')}
        placeholder={text('table.type')}
        value={uid || null}
        onChange={(value) => state.open({ check: String(value ?? '') })}
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
