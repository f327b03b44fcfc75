import { ConfirmDialog, SearchInput, getFetchClient, useRBAC } from '@strapi/strapi/admin';
import {
  Button,
  Dialog,
  Flex,
  IconButton,
  Link,
  LinkButton,
  Td,
  Tr,
  Typography,
} from '@strapi/design-system';
import { Plus, Trash } from '@strapi/icons';
import * as React from 'react';
import { useIntl } from 'react-intl';
import { Link as RouterLink } from 'react-router-dom';
import type { Cleared, Miss, Misses, MissSuggestion } from '../../../shared/problems';
import type { Result } from '../../../shared/reports';
import type { RedirectType } from '../../../shared/sites';
import type { Loaded } from '../api/loaded';
import { useResult } from '../api/use-result';
import { decoded } from '../decoded';
import { entryLink } from '../entry-link';
import { FailureNote } from '../failure-note';
import { CLEAR_MISSES } from '../permissions';
import { createLink } from '../redirect/link';
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

interface Props {
  site: string;
  /** Null: the admin may not create redirects. */
  redirects: RedirectType | null;
  state: PageState;
}

/** Paths that visitors could not find, those that are requested most first. */
export const MissesTab = ({ site, redirects, state }: Props) => {
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
              columns={[
                ...COLUMNS,
                ...(redirects ? (['misses.redirect'] as const) : []),
                ...(mayClear ? (['misses.clear'] as const) : []),
              ]}
              status={text('misses.count', { count: misses.count })}
              row={(miss: Miss) => (
                <MissRow
                  key={`${miss.host ?? ''}${miss.path ?? ''}`}
                  miss={miss}
                  redirects={redirects}
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

/** Text in several lines, so that the buttons are beside it. */
const Wrapped = ({ children }: { children: React.ReactNode }) => (
  <Flex
    direction="column"
    alignItems="flex-start"
    minWidth="16rem"
    paddingTop={3}
    paddingBottom={3}
    style={{ whiteSpace: 'normal' }}
  >
    {children}
  </Flex>
);

interface RowProps {
  miss: Miss;
  redirects: RedirectType | null;
  onClear: (() => void) | null;
}

const MissRow = ({ miss, redirects, onClear }: RowProps) => {
  const text = useText();
  const { formatDate, formatNumber } = useIntl();
  const date = (at: string | null) => (at ? formatDate(at, { dateStyle: 'short', timeStyle: 'short' }) : '');
  const { path, host, least, most, suggestion, redirect } = miss;
  const isCertain = least === most;
  return (
    <Tr>
      <Td>
        <Wrapped>
          {path === null ? (
            <Typography>{text('misses.scanners')}</Typography>
          ) : (
            <UrlText url={`${host ?? ''}${path}`} />
          )}
        </Wrapped>
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
      <Td>
        <Wrapped>{suggestion && <Suggested suggestion={suggestion} />}</Wrapped>
      </Td>
      {redirects && (
        <Td>
          {redirect && (
            <LinkButton
              tag={RouterLink}
              to={createLink(redirects, redirect)}
              variant="secondary"
              size="S"
              startIcon={<Plus />}
              aria-label={text('misses.create-from', { path: `${host ?? ''}${decoded(path ?? '')}` })}
            >
              {text('misses.create')}
            </LinkButton>
          )}
        </Td>
      )}
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
      <Typography tag="p" variant="pi" textColor="neutral600">
        {text(`misses.${reason}`)}
      </Typography>
    </>
  );
};
