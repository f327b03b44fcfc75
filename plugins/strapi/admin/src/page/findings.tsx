import { SearchInput } from '@strapi/strapi/admin';
import {
  Box,
  Button,
  Flex,
  Link,
  SingleSelect,
  SingleSelectOption,
  Td,
  Tr,
  Typography,
} from '@strapi/design-system';
import { Link as RouterLink } from 'react-router-dom';
import type * as React from 'react';
import { KINDS, type Cause, type Finding, type Findings } from '../../../shared/problems';
import { useResult } from '../api/use-result';
import { entryLink } from '../entry-link';
import { findingText } from '../finding-text';
import { useLanguageName } from '../language';
import { OwnerLink } from '../owner';
import { useText, type TextId } from '../texts';
import type { PageState } from './state';
import { PagedTable, Shown } from './table';

const CAUSES: TextId[] = ['table.cause', 'table.type', 'table.pages', 'table.show'];
const ENTRIES: TextId[] = ['table.entry', 'table.type', 'table.locale', 'table.problem'];

const CAUSE_ORDERS = {
  '': 'order.most',
  'count:ASC': 'order.fewest',
  'contentType:ASC': 'order.type',
} as const;
const ENTRY_ORDERS = {
  '': 'order.kind',
  'title:ASC': 'order.title',
  'title:DESC': 'order.title-down',
  'contentType:ASC': 'order.type',
  'locale:ASC': 'order.locale',
} as const;

/** All problems of a site: by their causes, and one by one. */
export const FindingsTab = ({ site, state }: { site: string; state: PageState }) => (
  <Shown of={useResult<Findings>(state.path('/findings', site))}>
    {(found) => <FindingsView found={found} state={state} />}
  </Shown>
);

const FindingsView = ({ found, state }: { found: Findings; state: PageState }) => {
  const text = useText();
  const { causes, findings, total, isCut } = found;
  const count = (causes ?? findings)?.count ?? 0;
  const status = [
    text(causes ? 'table.causes' : 'table.count', { count, total }),
    isCut ? text('table.truncated') : '',
  ].join(' ');
  return (
    <>
      {found.cause && <ChosenCause cause={found.cause} state={state} />}
      <Toolbar found={found} state={state} />
      {causes && (
        <PagedTable
          page={causes}
          columns={CAUSES}
          status={status}
          row={(cause: Cause) => <CauseRow key={cause.example.cause} cause={cause} state={state} />}
        />
      )}
      {findings && (
        <PagedTable
          page={findings}
          columns={ENTRIES}
          status={status}
          row={(one: Finding, at) => <EntryRow key={`${at} ${one.documentId}`} finding={one} />}
        />
      )}
    </>
  );
};

const ChosenCause = ({ cause: { example }, state }: { cause: Cause; state: PageState }) => {
  const text = useText();
  return (
    <Flex gap={4} wrap="wrap" data-frontend-map="cause">
      <Typography variant="beta" tag="h2">
        {findingText(text, example)}
      </Typography>
      <RelatedLink finding={example} />
      <Button variant="tertiary" size="S" onClick={() => state.choose({ cause: '' })}>
        {text('table.all-causes')}
      </Button>
    </Flex>
  );
};

/** To the entry that puts all pages of a cause right. */
const RelatedLink = ({ finding: { related, owner, locale } }: { finding: Finding }) => {
  const text = useText();
  if (owner) return <OwnerLink owner={owner} />;
  if (!related) return null;
  const version = { contentType: related.uid, documentId: related.documentId, locale };
  return (
    <Link tag={RouterLink} to={entryLink(version, related.isSingle)}>
      {text('table.open-related', { title: related.title ?? related.documentId })}
    </Link>
  );
};

const EntryLink = ({ finding }: { finding: Finding }) => (
  <Link tag={RouterLink} to={entryLink(finding, finding.isSingle)}>
    <bdi>{finding.title ?? finding.documentId}</bdi>
  </Link>
);

const Cell = ({ children }: { children: React.ReactNode }) => (
  <Td>
    <Typography textColor="neutral800" style={{ whiteSpace: 'normal' }}>
      {children}
    </Typography>
  </Td>
);

const CauseRow = ({ cause: { count, example }, state }: { cause: Cause; state: PageState }) => {
  const text = useText();
  return (
    <Tr>
      <Td>
        <Flex
          direction="column"
          alignItems="flex-start"
          paddingTop={3}
          paddingBottom={3}
          style={{ whiteSpace: 'normal' }}
        >
          <Typography textColor="neutral800">{findingText(text, example)}</Typography>
          {count === 1 ? <EntryLink finding={example} /> : <RelatedLink finding={example} />}
        </Flex>
      </Td>
      <Cell>{example.typeName}</Cell>
      <Td>
        <Typography textColor="neutral800">{text('table.page-count', { count })}</Typography>
      </Td>
      <Td>
        <Button variant="tertiary" size="S" onClick={() => state.choose({ cause: example.cause, sort: '' })}>
          {text('table.show')}
        </Button>
      </Td>
    </Tr>
  );
};

const EntryRow = ({ finding }: { finding: Finding }) => {
  const text = useText();
  const languageName = useLanguageName();
  return (
    <Tr>
      <Td>
        <EntryLink finding={finding} />
      </Td>
      <Cell>{finding.typeName}</Cell>
      <Cell>{languageName(finding.locale)}</Cell>
      <Td>
        <Typography textColor="neutral800" style={{ whiteSpace: 'normal' }}>
          {findingText(text, finding)}
        </Typography>
        {finding.owner && <OwnerLink owner={finding.owner} />}
      </Td>
    </Tr>
  );
};

const Toolbar = ({ found, state }: { found: Findings; state: PageState }) => {
  const text = useText();
  const languageName = useLanguageName();
  const orders: Record<string, TextId> = found.causes ? CAUSE_ORDERS : ENTRY_ORDERS;
  return (
    <Flex gap={2} wrap="wrap">
      <SearchInput label={text('table.search')} placeholder={text('table.search')} trackedEvent={null} />
      {!state.of('cause') && (
        <Select
          label={text('table.view')}
          value={state.of('view')}
          options={[
            ['', text('view.causes')],
            ['entries', text('view.entries')],
          ]}
          onChange={(view) => state.choose({ view, sort: '' })}
        />
      )}
      <Select
        label={text('table.kind')}
        value={state.of('kind')}
        options={[['', text('kind.all')], ...KINDS.map((kind) => [kind, text(`kind.${kind}`)] as const)]}
        onChange={(kind) => state.choose({ kind })}
      />
      <Select
        label={text('table.type')}
        value={state.of('contentType')}
        options={[['', text('type.all')], ...found.contentTypes.map(({ uid, name }) => [uid, name] as const)]}
        onChange={(contentType) => state.choose({ contentType })}
      />
      <Select
        label={text('table.locale')}
        value={state.of('locale')}
        options={[
          ['', text('locale.all')],
          ...found.locales.map((code) => [code, languageName(code)] as const),
        ]}
        onChange={(locale) => state.choose({ locale })}
      />
      <Select
        label={text('table.order')}
        value={state.of('sort')}
        options={Object.entries(orders).map(([order, id]) => [order, text(id)] as const)}
        onChange={(sort) => state.choose({ sort })}
      />
    </Flex>
  );
};

/** The design system takes an empty value as none, so that a choice without a filter has another one. */
const NONE = '-';

interface SelectProps {
  label: string;
  value: string;
  options: (readonly [string, string])[];
  onChange: (value: string) => void;
}

const Select = ({ label, value, options, onChange }: SelectProps) => (
  <Box>
    <SingleSelect
      size="S"
      aria-label={label}
      value={value || NONE}
      onChange={(chosen) => onChange(chosen === NONE ? '' : String(chosen))}
    >
      {options.map(([id, name]) => (
        <SingleSelectOption key={id} value={id || NONE}>
          {name}
        </SingleSelectOption>
      ))}
    </SingleSelect>
  </Box>
);
