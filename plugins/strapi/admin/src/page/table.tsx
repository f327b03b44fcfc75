import { Pagination } from '@strapi/strapi/admin';
import { Box, Flex, Loader, Table, Tbody, Typography } from '@strapi/design-system';
import type * as React from 'react';
import type { PageOf } from '../../../shared/problems';
import type { Loaded } from '../api/loaded';
import { FailureNote } from '../failure-note';
import { useText, type TextId } from '../texts';
import { TableHead } from './table-head';

/** The content of a tab when it has been loaded; before that and after a failure what is said instead. */
export const Shown = <T,>({
  of: [loaded, retry],
  children,
}: {
  of: [Loaded<T>, () => void];
  children: (report: T) => React.ReactNode;
}) => {
  const text = useText();
  if (loaded.state === 'loading') {
    return (
      <Flex justifyContent="center" padding={6}>
        <Loader>{text('page.loading')}</Loader>
      </Flex>
    );
  }
  if (loaded.state === 'done' && 'report' in loaded.result) return <>{children(loaded.result.report)}</>;
  return <FailureNote loaded={loaded} retry={retry} />;
};

interface Props<T> {
  page: PageOf<T>;
  columns: TextId[];
  row: (one: T, at: number) => React.ReactNode;
  /** How many rows there are, and whether these are all. */
  status: string;
}

/** A table with Strapi's own pagination, which keeps its state in the address bar. */
export const PagedTable = <T,>({ page: { rows, count, pageCount }, columns, row, status }: Props<T>) => (
  <Box>
    <Typography tag="p" role="status" paddingBottom={2}>
      {status}
    </Typography>
    {rows.length > 0 && (
      <Table colCount={columns.length} rowCount={rows.length + 1}>
        <TableHead columns={columns} />
        <Tbody>{rows.map(row)}</Tbody>
      </Table>
    )}
    {count > 10 && (
      <Pagination.Root pageCount={pageCount} total={count} defaultPageSize={20}>
        <Pagination.PageSize options={['20', '50', '100']} />
        <Pagination.Links />
      </Pagination.Root>
    )}
  </Box>
);
