import { Link, Tooltip, Typography, VisuallyHidden } from '@strapi/design-system';
import * as React from 'react';
import type { Failure } from '../../../shared/failures';
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

/** The column `URL` behind those of the content type. */
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
    let isShown = true;
    setFound(null);
    if (documentId && !isDraft) {
      void requestRow(model, locale ?? undefined, documentId).then((result) => isShown && setFound(result));
    }
    return () => {
      isShown = false;
    };
  }, [model, locale, documentId, isDraft, updatedAt, status]);

  if (isDraft) return <Quiet>{text('column.draft')}</Quiet>;
  if (!found) return <VisuallyHidden>{text('panel.loading')}</VisuallyHidden>;
  if ('failure' in found) return <Quiet>{text(`failure.${found.failure as Failure}`)}</Quiet>;
  if ('reason' in found) return <Quiet>{reasonText(text, found.reason)}</Quiet>;
  return <PageLink url={found.url} />;
};

const Quiet = ({ children }: { children: string }) => (
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
