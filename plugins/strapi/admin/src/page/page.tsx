import { Layouts, Page } from '@strapi/strapi/admin';
import { Box, Flex, SingleSelect, SingleSelectOption, Tabs } from '@strapi/design-system';
import type { Site } from '../../../shared/sites';
import { useSites } from '../api/use-sites';
import { NoSite } from '../no-site';
import { READ_REPORT } from '../permissions';
import { useText, type TextId } from '../texts';
import { CheckPanel } from './check';
import { FindingsTab } from './findings';
import { LinksTab } from './links';
import { MissesTab } from './misses';
import { MovesTab } from './moves';
import { usePageState, type PageState } from './state';

const TABS = {
  problems: FindingsTab,
  links: LinksTab,
  checks: CheckPanel,
  misses: MissesTab,
  moves: MovesTab,
};
type Tab = keyof typeof TABS;
const TITLES: Record<Tab, TextId> = {
  problems: 'tab.problems',
  links: 'links.title',
  checks: 'check.title',
  misses: 'misses.title',
  moves: 'moves.title',
};
const NAMES = Object.keys(TABS) as Tab[];

const ProblemsPage = () => {
  const text = useText();
  const sites = useSites();
  const state = usePageState();
  const site = sites?.find(({ key }) => key === state.of('site')) ?? sites?.[0];
  return (
    <Page.Main>
      <Page.Title>{text('page.title')}</Page.Title>
      <Layouts.Header title={text('page.title')} subtitle={text('page.subtitle')} />
      <Layouts.Content>
        {sites && sites.length > 1 && site && <Sites sites={sites} site={site} state={state} />}
        {sites && !site && <NoSite />}
        {site && <SiteTabs site={site} key={site.key} state={state} />}
      </Layouts.Content>
    </Page.Main>
  );
};

const Sites = ({ sites, site, state }: { sites: Site[]; site: Site; state: PageState }) => {
  const text = useText();
  return (
    <Box paddingBottom={4} maxWidth="24rem">
      <SingleSelect
        aria-label={text('page.site')}
        value={site.key}
        onChange={(value) => state.open({ site: String(value) })}
      >
        {sites.map(({ key }) => (
          <SingleSelectOption key={key} value={key}>
            {key}
          </SingleSelectOption>
        ))}
      </SingleSelect>
    </Box>
  );
};

const SiteTabs = ({ site, state }: { site: Site; state: PageState }) => {
  const text = useText();
  const tab = NAMES.find((name) => name === state.of('tab')) ?? 'problems';
  const Content = TABS[tab];
  return (
    <Tabs.Root variant="simple" value={tab} onValueChange={(value) => state.open({ tab: value })}>
      <Tabs.List aria-label={text('page.title')}>
        {NAMES.map((name) => (
          <Tabs.Trigger key={name} value={name}>
            {text(TITLES[name])}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {NAMES.map((name) => (
        <Tabs.Content key={name} value={name}>
          {name === tab && (
            <Flex direction="column" alignItems="stretch" gap={4} paddingTop={4} data-frontend-map="page">
              <Content site={site.key} redirects={site.redirects} state={state} />
            </Flex>
          )}
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
};

/** Only for admins with the permission to read reports. */
const ProtectedPage = () => (
  <Page.Protect permissions={READ_REPORT}>
    <ProblemsPage />
  </Page.Protect>
);

export default ProtectedPage;
