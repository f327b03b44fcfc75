import { Flex, Link, Tooltip, Typography, VisuallyHidden } from '@strapi/design-system';
import * as React from 'react';
import type { Failure } from '../../../shared/failures';
import { OwnerLink } from '../owner';
import { reasonText } from '../reasons';
import { descriptor, useText } from '../texts';
import type { RowResult } from './batch';
import { requestRow } from './rows';

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

/** The column `URL` after those of the content type. */
export const addColumn = (table: Table): Table => ({
  ...table,
  displayedHeaders: [
    ...table.displayedHeaders,
    {
      attribute: { type: 'custom' },
      name: 'frontend-map-url',
      label: descriptor('column.title'),
      searchable: false,
      sortable: false,
      cellFormatter: (row: Row, _header: unknown, { model }: { model: string }) => (
        <Cell row={row} model={model} />
      ),
    },
  ],
});

const Cell = ({ row, model }: { row: Row; model: string }) => {
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
  if ('reason' in found) return <MutedText>{reasonText(text, found.reason)}</MutedText>;
  if (found.owner === undefined) return <PageLink url={found.url} />;
  return (
    <Flex direction="column" alignItems="flex-start">
      <PageLink url={found.url} />
      {found.owner ? <OwnerLink owner={found.owner} /> : <MutedText>{text('shared.live')}</MutedText>}
    </Flex>
  );
};

const MutedText = ({ children }: { children: string }) => (
  <Tooltip label={children}>
    <Typography textColor="neutral600" ellipsis tag="p" maxWidth="24rem">
      {children}
    </Typography>
  </Tooltip>
);

/** A click opens the page, not the row. */
const PageLink = ({ url }: { url: string }) => {
  const text = useText();
  const { pathname } = new URL(url);
  return (
    <Tooltip label={url}>
      <Link href={url} isExternal onClick={(event: React.MouseEvent) => event.stopPropagation()}>
        <Typography ellipsis dir="ltr" maxWidth="24rem" textColor="primary600">
          {pathname}
        </Typography>
        <VisuallyHidden> ({text('new-tab')})</VisuallyHidden>
      </Link>
    </Tooltip>
  );
};
