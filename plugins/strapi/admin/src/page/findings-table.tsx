import {
  Box,
  Button,
  Flex,
  Link,
  SingleSelect,
  SingleSelectOption,
  Table,
  Tbody,
  Td,
  Tr,
  Typography,
} from '@strapi/design-system';
import * as React from 'react';
import { Link as RouterLink } from 'react-router-dom';
import type { Overview } from '../../../shared/problems';
import { isSingle, nameOf, type ContentType } from '../api/use-content-types';
import { entryLink } from '../entry-link';
import { OwnerLink } from '../owner';
import { useText, type TextId } from '../texts';
import { TableHead } from './table-head';
import { filtered, findingsOf, findingText, KINDS, type Filter, type Finding, type Kind } from './findings';

/** Rows that are added by "Show more". */
const ROWS = 50;
const COLUMNS: TextId[] = ['table.kind', 'table.entry', 'table.type', 'table.locale', 'table.problem'];

export const FindingsTable = ({ overview, types }: { overview: Overview; types: ContentType[] }) => {
  const text = useText();
  const [filter, setFilter] = React.useState<Filter>({ kind: '', contentType: '', locale: '' });
  const [max, setMax] = React.useState(ROWS);
  const all = React.useMemo(() => findingsOf(overview), [overview]);
  const rows = filtered(all, filter);
  const isCut = overview.problems.truncated || overview.checks.some(({ truncated }) => truncated);
  return (
    <Box>
      <Filters all={all} filter={filter} types={types} onChange={setFilter} />
      <Typography tag="p" role="status" paddingBottom={2}>
        {text('table.count', { count: rows.length })} {isCut && text('table.truncated')}
      </Typography>
      {rows.length > 0 && (
        <Table colCount={COLUMNS.length} rowCount={Math.min(rows.length, max) + 1}>
          <TableHead columns={COLUMNS} />
          <Tbody>
            {rows.slice(0, max).map((finding) => (
              <Row key={finding.key} finding={finding} types={types} />
            ))}
          </Tbody>
        </Table>
      )}
      {rows.length > max && (
        <Box paddingTop={4}>
          <Button variant="tertiary" onClick={() => setMax(max + ROWS)}>
            {text('table.more')}
          </Button>
        </Box>
      )}
    </Box>
  );
};

const Row = ({ finding, types }: { finding: Finding; types: ContentType[] }) => {
  const text = useText();
  const { version, kind, owner } = finding;
  const cells = [text(`kind.${kind}`), null, nameOf(types, version.contentType), version.locale];
  return (
    <Tr>
      {cells.map((cell, column) => (
        <Td key={COLUMNS[column]}>
          {cell === null ? (
            <Link tag={RouterLink} to={entryLink(version, isSingle(types, version.contentType))}>
              <bdi>{version.title ?? version.documentId}</bdi>
            </Link>
          ) : (
            <Typography textColor="neutral800">{cell}</Typography>
          )}
        </Td>
      ))}
      <Td>
        <Typography textColor="neutral800" style={{ whiteSpace: 'normal' }}>
          {findingText(text, finding)}
        </Typography>
        {owner && <OwnerLink owner={{ ...owner, isSingle: isSingle(types, owner.contentType) }} />}
      </Td>
    </Tr>
  );
};

interface FiltersProps {
  all: Finding[];
  filter: Filter;
  types: ContentType[];
  onChange: (filter: Filter) => void;
}

const Filters = ({ all, filter, types, onChange }: FiltersProps) => {
  const text = useText();
  const uids = [...new Set(all.map(({ version }) => version.contentType))];
  const locales = [...new Set(all.map(({ version }) => version.locale))].sort();
  const set = (change: Partial<Filter>) => onChange({ ...filter, ...change });
  return (
    <Flex gap={2} paddingBottom={4} wrap="wrap">
      <Select
        label={text('table.kind')}
        value={filter.kind}
        options={KINDS.map((kind) => [kind, text(`kind.${kind}`)])}
        onChange={(kind) => set({ kind: kind as Kind | '' })}
      />
      <Select
        label={text('table.type')}
        value={filter.contentType}
        options={uids.map((uid) => [uid, nameOf(types, uid)])}
        onChange={(contentType) => set({ contentType })}
      />
      <Select
        label={text('table.locale')}
        value={filter.locale}
        options={locales.map((locale) => [locale, locale])}
        onChange={(locale) => set({ locale })}
      />
    </Flex>
  );
};

interface SelectProps {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
}

/** A choice that can be cleared. */
const Select = ({ label, value, options, onChange }: SelectProps) => {
  const text = useText();
  return (
    <SingleSelect
      aria-label={label}
      placeholder={label}
      value={value || null}
      onChange={(chosen) => onChange(String(chosen ?? ''))}
      onClear={() => onChange('')}
      clearLabel={text('table.clear')}
    >
      {options.map(([id, name]) => (
        <SingleSelectOption key={id} value={id}>
          {name}
        </SingleSelectOption>
      ))}
    </SingleSelect>
  );
};
