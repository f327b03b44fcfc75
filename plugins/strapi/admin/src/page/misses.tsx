import { ConfirmDialog, SearchInput, getFetchClient, useRBAC } from '@strapi/strapi/admin';
import { Button, Dialog, Flex, IconButton, Link, Td, Tr, Typography } from '@strapi/design-system';
import { Trash } from '@strapi/icons';
import * as React from 'react';
import { useIntl } from 'react-intl';
import { Link as RouterLink } from 'react-router-dom';
import type { Cleared, Miss, Misses, MissSuggestion } from '../../../shared/problems';
import type { Result } from '../../../shared/reports';
import type { Loaded } from '../api/loaded';
import { useResult } from '../api/use-result';
import { entryLink } from '../entry-link';
import { FailureNote } from '../failure-note';
import { CLEAR_MISSES } from '../permissions';
import { useText, type TextId } from '../texts';
import { UrlText } from '../url-text';
import type { PageState } from './state';
import { PagedTable, Shown } from './table';

const COLUMNS: TextId[] = [
  'misses.path',
  'misses.requests',
  'misses.first',
  'misses.last',
  'misses.suggestion',
];

/** Paths that visitors could not find, those that are requested most first. */
export const MissesTab = ({ site, state }: { site: string; state: PageState }) => {
  const text = useText();
  const [version, setVersion] = React.useState(0);
  const { allowedActions } = useRBAC(CLEAR_MISSES);
  const { clear, failed } = useClear(site, () => setVersion((last) => last + 1));
  const mayClear = Boolean(allowedActions.canClearMisses);
  return (
    <Shown of={useResult<Misses>(state.path('/misses', site), String(version))}>
      {(misses) =>
        misses ? (
          <>
            <Flex gap={2} justifyContent="space-between">
              <SearchInput
                label={text('table.search')}
                placeholder={text('table.search')}
                trackedEvent={null}
              />
              {mayClear && misses.count > 0 && <ClearAll onConfirm={() => clear(null)} />}
            </Flex>
            <Typography tag="p" textColor="neutral600">
              {text('misses.note')}
            </Typography>
            {failed && <FailureNote loaded={failed} retry={() => setVersion((last) => last + 1)} />}
            <PagedTable
              page={misses}
              columns={mayClear ? [...COLUMNS, 'misses.clear'] : COLUMNS}
              status={text('misses.count', { count: misses.count })}
              row={(miss: Miss) => (
                <MissRow
                  key={`${miss.host ?? ''}${miss.path ?? ''}`}
                  miss={miss}
                  onClear={mayClear ? () => clear(miss) : null}
                />
              )}
            />
          </>
        ) : (
          <Typography tag="p">{text('misses.off')}</Typography>
        )
      }
    </Shown>
  );
};

/** A path of a scanner: clearing it clears the row of all of them. */
const OF_SCANNERS = '/.env';

/** Clears a row, or all rows; what has failed stays until the next attempt. */
const useClear = (site: string, onDone: () => void) => {
  const [failed, setFailed] = React.useState<Loaded<Cleared> | null>(null);
  const clear = async (miss: Miss | null) => {
    const query = new URLSearchParams({ site });
    if (miss) query.set('path', miss.path ?? OF_SCANNERS);
    if (miss?.host) query.set('host', miss.host);
    const loaded = await getFetchClient()
      .del<Result<Cleared>>(`/frontend-map/misses?${query}`)
      .then(({ data }): Loaded<Cleared> => ({ state: 'done', result: data }))
      .catch((): Loaded<Cleared> => ({ state: 'error' }));
    const isDone = loaded.state === 'done' && 'report' in loaded.result;
    setFailed(isDone ? null : loaded);
    if (isDone) onDone();
  };
  return { clear, failed };
};

const ClearAll = ({ onConfirm }: { onConfirm: () => void }) => {
  const text = useText();
  return (
    <Dialog.Root>
      <Dialog.Trigger>
        <Button variant="danger-light" startIcon={<Trash />}>
          {text('misses.clear-all')}
        </Button>
      </Dialog.Trigger>
      <ConfirmDialog onConfirm={onConfirm}>{text('misses.confirm')}</ConfirmDialog>
    </Dialog.Root>
  );
};

const MissRow = ({ miss, onClear }: { miss: Miss; onClear: (() => void) | null }) => {
  const text = useText();
  const { formatDate, formatNumber } = useIntl();
  const date = (at: string | null) => (at ? formatDate(at, { dateStyle: 'short', timeStyle: 'short' }) : '');
  const { path, host, least, most, suggestion } = miss;
  const isCertain = least === most;
  return (
    <Tr>
      <Td>
        {path === null ? (
          <Typography>{text('misses.scanners')}</Typography>
        ) : (
          <UrlText url={`${host ?? ''}${path}`} />
        )}
      </Td>
      <Td>
        <Typography>
          {isCertain
            ? formatNumber(most)
            : text('misses.between', { least: formatNumber(least), most: formatNumber(most) })}
        </Typography>
      </Td>
      <Td>
        <Typography>{date(miss.firstAt)}</Typography>
      </Td>
      <Td>
        <Typography>{date(miss.lastAt)}</Typography>
      </Td>
      <Td>{suggestion && <Suggested suggestion={suggestion} />}</Td>
      {onClear && (
        <Td>
          <IconButton
            label={text('misses.clear-row', { path: path ?? text('misses.scanners') })}
            onClick={onClear}
          >
            <Trash />
          </IconButton>
        </Td>
      )}
    </Tr>
  );
};

const Suggested = ({ suggestion: { path, reason, document } }: { suggestion: MissSuggestion }) => {
  const text = useText();
  return (
    <>
      {document ? (
        <Link tag={RouterLink} to={entryLink(document, document.isSingle)}>
          <UrlText url={path} />
        </Link>
      ) : (
        <UrlText url={path} />
      )}
      <Typography variant="pi" textColor="neutral600">
        {text(`misses.${reason}`)}
      </Typography>
    </>
  );
};
