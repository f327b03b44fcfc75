import { Box, Divider, Flex, Loader, Typography } from '@strapi/design-system';
import { hasLink, type DocumentReport } from '../../../shared/reports';
import type { Loaded } from '../api/loaded';
import { FailureNote } from '../failure-note';
import { useText } from '../texts';
import { AddressView } from './address';
import { BeforeView } from './before';
import { publishNotes, withdrawNotes } from './before-notes';
import { FormerPaths, Languages, LastCheck } from './details';

interface Props {
  /** Null while the document is not saved. */
  loaded: Loaded<DocumentReport> | null;
  retry: () => void;
}

export const PanelContent = ({ loaded, retry }: Props) => {
  const text = useText();
  if (!loaded) return <Note>{text('panel.unsaved')}</Note>;
  if (loaded.state === 'loading') return <Loader small>{text('panel.loading')}</Loader>;
  if (loaded.state === 'done' && 'report' in loaded.result) return <Report report={loaded.result.report} />;
  return <FailureNote loaded={loaded} retry={retry} />;
};

const Note = ({ children }: { children: string }) => (
  <Typography role="status" textColor="neutral600" data-frontend-map="note">
    {children}
  </Typography>
);

const Report = ({ report }: { report: DocumentReport }) => {
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
      {before && draft && (
        <BeforeView title={text('before.publish')} notes={publishNotes(before, hasLink(draft))} />
      )}
      {before && published && <BeforeView title={text('before.withdraw')} notes={withdrawNotes(before)} />}
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
