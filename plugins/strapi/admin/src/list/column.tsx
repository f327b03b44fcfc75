import { Box, Flex, Link, Tooltip, Typography, VisuallyHidden } from '@strapi/design-system';
import * as React from 'react';
import { createGlobalStyle } from 'styled-components';
import type { Failure } from '../../../shared/failures';
import { OwnerLink } from '../owner';
import { reasonText } from '../reasons';
import { descriptor, useText } from '../texts';
import { decoded } from '../decoded';
import type { RowResult } from './batch';
import { behindStatus } from './behind-status';
import { requestRow } from './rows';

/** So that the column fits beside Strapi's at 1280 px; a tooltip has the whole. */
const WIDTH = '18rem';

/** Without the icon of a link. */
const LINK_WIDTH = '15.6rem';

/** The padding of Strapi's tables, which is inside of what scrolls. */
const TABLE_PADDING = '2.4rem';

interface Row {
  documentId?: string;
  locale?: string | null;
  status?: string;
  updatedAt?: string;
}

export interface Table {
  displayedHeaders: unknown[];
  layout: unknown;
}

/** The column `URL` behind all others. */
export const addColumn = (table: Table): Table => ({
  ...table,
  displayedHeaders: behindStatus(table.displayedHeaders, {
    attribute: { type: 'custom' },
    name: 'frontend-map-url',
    label: descriptor('column.title'),
    searchable: false,
    sortable: false,
    cellFormatter: (row: Row, _header: unknown, { model }: { model: string }) => (
      <Cell row={row} model={model} />
    ),
  }),
});

/** Where Strapi's own columns are wider than the page, the column stays in view at the right edge. */
const InView = createGlobalStyle`
  td:has([data-frontend-map='url']),
  table:has([data-frontend-map='url']) th:last-of-type {
    position: sticky;
    right: -${TABLE_PADDING};
    background: ${({ theme }) => theme.colors.neutral0};
  }
`;

const Cell = (props: { row: Row; model: string }) => (
  <Box data-frontend-map="url" maxWidth={WIDTH}>
    <InView />
    <CellContent {...props} />
  </Box>
);

const CellContent = ({ row, model }: { row: Row; model: string }) => {
  const text = useText();
  const [found, setFound] = React.useState<RowResult | null>(null);
  const { documentId, locale, status, updatedAt } = row;
  const isDraft = status === 'draft';

  React.useEffect(() => {
    let isMounted = true;
    setFound(null);
    if (documentId && !isDraft) {
      void requestRow(model, locale ?? undefined, documentId).then((result) => isMounted && setFound(result));
    }
    return () => {
      isMounted = false;
    };
  }, [model, locale, documentId, isDraft, updatedAt, status]);

  if (isDraft) return <MutedText>{text('column.draft')}</MutedText>;
  if (!found) return <VisuallyHidden>{text('panel.loading')}</VisuallyHidden>;
  if ('failure' in found) return <MutedText>{text(`failure.${found.failure as Failure}`)}</MutedText>;
  if ('reason' in found) return <MutedText>{reasonText(text, found)}</MutedText>;
  if (found.owner === undefined) return <PageLink url={found.url} />;
  return (
    <Flex direction="column" alignItems="flex-start" gap={2}>
      <PageLink url={found.url} />
      {found.owner ? <OwnerLink owner={found.owner} /> : <MutedText>{text('shared.live')}</MutedText>}
    </Flex>
  );
};

const MutedText = ({ children }: { children: string }) => (
  <Tooltip label={children}>
    <Typography textColor="neutral600" ellipsis tag="p" maxWidth={WIDTH}>
      {children}
    </Typography>
  </Tooltip>
);

/** Cut at its beginning, which is that of the rows around it. */
const FROM_THE_END = { direction: 'rtl', textAlign: 'left' } as const;

/** A click opens the page, not the row. */
const PageLink = ({ url }: { url: string }) => {
  const text = useText();
  const { pathname } = new URL(url);
  return (
    <Tooltip label={decoded(url)}>
      <Link href={url} isExternal onClick={(event: React.MouseEvent) => event.stopPropagation()}>
        <Typography ellipsis style={FROM_THE_END} maxWidth={LINK_WIDTH} textColor="primary600">
          <bdi dir="ltr">{decoded(pathname)}</bdi>
        </Typography>
        <VisuallyHidden> ({text('new-tab')})</VisuallyHidden>
      </Link>
    </Tooltip>
  );
};
