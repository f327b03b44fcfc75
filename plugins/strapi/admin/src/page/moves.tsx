import { Box, Link, Table, Tbody, Td, Tr, Typography } from '@strapi/design-system';
import { useIntl } from 'react-intl';
import { Link as RouterLink } from 'react-router-dom';
import type { Move } from '../../../shared/problems';
import { isSingle, nameOf, type ContentType } from '../api/use-content-types';
import { entryLink } from '../entry-link';
import { useText, type TextId } from '../texts';
import { TableHead } from './table-head';

const COLUMNS: TextId[] = ['moves.from', 'moves.to', 'table.type', 'moves.since'];

/** Paths that redirect now; `moves` is null on a site that remembers none. */
export const Moves = ({ moves, types }: { moves: Move[] | null; types: ContentType[] }) => {
  const text = useText();
  if (!moves) return null;
  return (
    <Box>
      <Typography variant="beta" tag="h2" paddingBottom={2}>
        {text('moves.title')}
      </Typography>
      {!moves.length && <Typography tag="p">{text('moves.none')}</Typography>}
      {moves.length > 0 && <MovesTable moves={moves} types={types} />}
    </Box>
  );
};

const MovesTable = ({ moves, types }: { moves: Move[]; types: ContentType[] }) => {
  const { formatDate } = useIntl();
  return (
    <Table colCount={COLUMNS.length} rowCount={moves.length + 1}>
      <TableHead columns={COLUMNS} />
      <Tbody>
        {moves.map((move) => (
          <Tr key={`${move.from} ${move.locale}`}>
            <Td>
              <Typography dir="ltr">{move.from}</Typography>
            </Td>
            <Td>
              <Link tag={RouterLink} to={entryLink(move, isSingle(types, move.contentType))} dir="ltr">
                {move.path}
              </Link>
            </Td>
            <Td>
              <Typography>{nameOf(types, move.contentType)}</Typography>
            </Td>
            <Td>
              <Typography>
                {move.since ? formatDate(move.since, { dateStyle: 'short', timeStyle: 'short' }) : ''}
              </Typography>
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
};
