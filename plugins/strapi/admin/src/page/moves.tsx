import { SearchInput } from '@strapi/strapi/admin';
import { Flex, Link, Td, Tr, Typography } from '@strapi/design-system';
import { useIntl } from 'react-intl';
import { Link as RouterLink } from 'react-router-dom';
import type { Move, Moves } from '../../../shared/problems';
import { useResult } from '../api/use-result';
import { entryLink } from '../entry-link';
import { useText, type TextId } from '../texts';
import { UrlText } from '../url-text';
import type { PageState } from './state';
import { PagedTable, Shown } from './table';

const COLUMNS: TextId[] = ['moves.from', 'moves.to', 'table.type', 'moves.since'];

/** Paths that redirect now, the latest first. */
export const MovesTab = ({ site, state }: { site: string; state: PageState }) => {
  const text = useText();
  return (
    <Shown of={useResult<Moves>(state.path('/moves', site))}>
      {(moves) =>
        moves ? (
          <>
            <Flex>
              <SearchInput
                label={text('table.search')}
                placeholder={text('table.search')}
                trackedEvent={null}
              />
            </Flex>
            <PagedTable
              page={moves}
              columns={COLUMNS}
              status={text('moves.count', { count: moves.count })}
              row={(move: Move) => <MoveRow key={`${move.from} ${move.locale}`} move={move} />}
            />
          </>
        ) : (
          <Typography tag="p">{text('moves.off')}</Typography>
        )
      }
    </Shown>
  );
};

const MoveRow = ({ move }: { move: Move }) => {
  const { formatDate } = useIntl();
  return (
    <Tr>
      <Td>
        <UrlText url={move.from} />
      </Td>
      <Td>
        <Link tag={RouterLink} to={entryLink(move, move.isSingle)}>
          <UrlText url={move.path} />
        </Link>
      </Td>
      <Td>
        <Typography>{move.typeName}</Typography>
      </Td>
      <Td>
        <Typography>
          {move.since ? formatDate(move.since, { dateStyle: 'short', timeStyle: 'short' }) : ''}
        </Typography>
      </Td>
    </Tr>
  );
};
