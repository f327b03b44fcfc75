import { Box, Divider, Flex, Loader, Typography } from '@strapi/design-system';
import type * as React from 'react';
import { hasLink, type DocumentReport } from '../../../shared/reports';
import type { Loaded } from '../api/loaded';
import { FailureNote } from '../failure-note';
import { useText } from '../texts';
import { Warning } from '../warning';
import { AddressView } from './address';
import { BeforeView } from './before';
import { publishNotes, withdrawNotes } from './before-notes';
import { FormerPaths, Languages, LastCheck } from './details';

interface Props {
  /** Null while the document is not saved. */
  loaded: Loaded<DocumentReport> | null;
  retry: () => void;
  /** The links of the document, and to it. */
  links: React.ReactNode;
}

export const PanelContent = ({ loaded, retry, links }: Props) => {
  const text = useText();
  if (!loaded) return <Note>{text('panel.unsaved')}</Note>;
  if (loaded.state === 'loading') return <Loader small>{text('panel.loading')}</Loader>;
  const note = <FailureNote loaded={loaded} retry={retry} />;
  if (loaded.state !== 'done' || 'failure' in loaded.result) return note;
  const { report, missing } = loaded.result;
  return <Report report={report} withoutPreview={missing ? note : null} links={links} />;
};

const Note = ({ children }: { children: string }) => (
  <Typography role="status" textColor="neutral600" data-frontend-map="note">
    {children}
  </Typography>
);

interface ReportProps {
  report: DocumentReport;
  /** Why it is not known what the next click would do. */
  withoutPreview: React.ReactNode;
  links: React.ReactNode;
}

const Report = ({ report, withoutPreview, links }: ReportProps) => {
  const text = useText();
  const { published, draft, languages, formerPaths, check, before } = report;
  // What was checked before a version had no URL says nothing of it.
  const checked = published && hasLink(published) ? check : null;
  const hasMore = languages.length > 0 || formerPaths.length > 0 || checked !== null;
  return (
    <Flex direction="column" alignItems="stretch" gap={3} width="100%" data-frontend-map="panel">
      {published ? (
        <AddressView address={published} title={text('panel.live')} isLive />
      ) : (
        <Note>{text('panel.not-published')}</Note>
      )}
      {draft && <AddressView address={draft} title={text('panel.draft')} isLive={false} />}
      {withoutPreview && (
        <Box data-frontend-map="before">
          <Warning>{text('before.failed')}</Warning>
          {withoutPreview}
        </Box>
      )}
      {before && draft && (
        <BeforeView title={text('before.publish')} notes={publishNotes(before, hasLink(draft))} />
      )}
      {before && published && <BeforeView title={text('before.withdraw')} notes={withdrawNotes(before)} />}
      {links}
      {hasMore && (
        <Box>
          <Divider marginBottom={3} />
          <LastCheck check={checked} />
          <Languages languages={languages} />
          <FormerPaths paths={formerPaths} />
        </Box>
      )}
    </Flex>
  );
};
