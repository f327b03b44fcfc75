import { Layouts, Page } from '@strapi/strapi/admin';
import { Box, Flex, SingleSelect, SingleSelectOption, Typography } from '@strapi/design-system';
import * as React from 'react';
import type { Overview } from '../../../shared/problems';
import { useResult } from '../api/use-result';
import { useContentTypes } from '../api/use-content-types';
import { useSites } from '../api/use-sites';
import { READ_REPORT } from '../permissions';
import { useText } from '../texts';
import { CheckPanel } from './check';
import { FindingsTable } from './findings-table';
import { Moves } from './moves';

const ProblemsPage = () => {
  const text = useText();
  const sites = useSites();
  const [chosen, setChosen] = React.useState('');
  const site = chosen || sites?.[0];
  return (
    <Page.Main>
      <Page.Title>{text('page.title')}</Page.Title>
      <Layouts.Header title={text('page.title')} subtitle={text('page.subtitle')} />
      <Layouts.Content>
        {sites && sites.length > 1 && site && (
          <Box paddingBottom={4} maxWidth="24rem">
            <SingleSelect
              aria-label={text('page.site')}
              value={site}
              onChange={(value) => setChosen(String(value))}
            >
              {sites.map((key) => (
                <SingleSelectOption key={key} value={key}>
                  {key}
                </SingleSelectOption>
              ))}
            </SingleSelect>
          </Box>
        )}
        {sites && !site && <Typography>{text('page.no-site')}</Typography>}
        {site && <Site site={site} key={site} />}
      </Layouts.Content>
    </Page.Main>
  );
};

const Site = ({ site }: { site: string }) => {
  const text = useText();
  const types = useContentTypes();
  const [version, setVersion] = React.useState(0);
  const loaded = useResult<Overview>(`/overview?site=${encodeURIComponent(site)}`, String(version));
  if (loaded.state === 'loading') return <Page.Loading />;
  if (loaded.state === 'error') return <Page.Error />;
  if ('failure' in loaded.result) {
    return <Typography role="status">{text(`failure.${loaded.result.failure}`)}</Typography>;
  }
  const { report } = loaded.result;
  return (
    <Flex direction="column" alignItems="stretch" gap={6} data-frontend-map="page">
      <FindingsTable overview={report} types={types} />
      <CheckPanel
        site={site}
        checks={report.checks}
        types={types}
        onDone={() => setVersion((last) => last + 1)}
      />
      <Moves moves={report.moves} types={types} />
    </Flex>
  );
};

/** Only for admins with the permission to read reports. */
const ProtectedPage = () => (
  <Page.Protect permissions={READ_REPORT}>
    <ProblemsPage />
  </Page.Protect>
);

export default ProtectedPage;
