import { Box, Divider, Flex, Loader, Typography } from '@strapi/design-system';
import { hasLink, type DocumentReport } from '../../../shared/reports';
import { useResult } from '../api/use-result';
import { useText } from '../texts';
import { AddressView } from './address';
import { Alternates, Checked, FormerPaths, othersOf } from './details';
import { PreviewLink } from './preview';
import { StatusChips } from './status';

export interface OpenVersion {
  uid: string;
  documentId: string;
  locale: string | undefined;
  status: string | undefined;
  /** Changes when a version is saved or published. */
  version: string;
}

/** `document` is null while it is not saved. */
export const PanelContent = ({ document }: { document: OpenVersion | null }) => {
  const text = useText();
  const query = new URLSearchParams();
  if (document) {
    query.set('uid', document.uid);
    query.set('documentId', document.documentId);
    if (document.locale) query.set('locale', document.locale);
  }
  const loaded = useResult<DocumentReport>(document && `/document?${query}`, document?.version);

  if (!document) return <Note>{text('panel.unsaved')}</Note>;
  if (loaded.state === 'loading') return <Loader small>{text('panel.loading')}</Loader>;
  if (loaded.state === 'error') return <Note>{text('panel.error')}</Note>;
  if ('failure' in loaded.result) return <Note>{text(`failure.${loaded.result.failure}`)}</Note>;
  return <Report document={document} report={loaded.result.report} />;
};

const Note = ({ children }: { children: string }) => (
  <Typography role="status" textColor="neutral600" data-frontend-map="note">
    {children}
  </Typography>
);

const Report = ({ document, report }: { document: OpenVersion; report: DocumentReport }) => {
  const text = useText();
  const { published, draft } = report;
  // A frontend finds the page of a draft by its path.
  const hasAnyLink = [published, draft].some((address) => address && hasLink(address));
  return (
    <Flex direction="column" alignItems="stretch" gap={3} width="100%" data-frontend-map="panel">
      <StatusChips status={document.status} />
      {published ? (
        <AddressView address={published} title={text('panel.live')} isLive />
      ) : (
        <Note>{text('panel.not-published')}</Note>
      )}
      {draft && <AddressView address={draft} title={text('panel.draft')} isLive={false} />}
      {report.preview && hasAnyLink && <PreviewLink />}
      <Sections report={report} />
    </Flex>
  );
};

const Sections = ({ report }: { report: DocumentReport }) => {
  const own = report.published && 'url' in report.published ? report.published.url : '';
  const alternates = othersOf(report.alternates, own);
  const hasMore = report.formerPaths.length > 0 || Boolean(report.checked?.urls.length);
  if (!alternates.length && !hasMore) return null;
  return (
    <Box>
      {hasMore && <Divider marginBottom={3} />}
      <Alternates alternates={alternates} />
      <FormerPaths paths={report.formerPaths} />
      <Checked checked={report.checked} />
    </Box>
  );
};
