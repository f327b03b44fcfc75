import {
  SHOWN_VERDICTS,
  type ContentLink,
  type DocumentLinks,
  type LinkKind,
  type LinkingEntry,
  type Verdict,
} from '../../../shared/links';
import type { ServiceResponse } from '../service/client';
import { hasUrl } from './choice';
import { readableOf, rowsOf, type MayRead, type Row } from './reports';

type TypeOf = (uid: string) => { typeName: string; isSingle: boolean };

/** The verdicts of a kind, as the service takes them. */
export const verdictsOf = (kind: LinkKind): string => (kind === 'broken' ? 'gone,no_such_page' : kind);

/** Links that the panel shows, and entries that it names. */
const MAX_SHOWN = 5;

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const entryOf = (row: Row, typeOf: TypeOf): LinkingEntry => ({
  contentType: text(row.contentType),
  documentId: text(row.documentId),
  locale: text(row.locale),
  ...typeOf(text(row.contentType)),
});

const linkOf = (row: Row, typeOf: TypeOf): ContentLink | null => {
  const verdict = SHOWN_VERDICTS.find((known) => known === row.verdict) as Verdict | undefined;
  // Later versions of the service may have others.
  if (!verdict) return null;
  return {
    ...entryOf(row, typeOf),
    field: text(row.field),
    text: text(row.text),
    address: text(row.address),
    verdict,
    to: text(row.to) || null,
  };
};

const linksIn = (rows: Row[], typeOf: TypeOf): ContentLink[] =>
  rows.map((row) => linkOf(row, typeOf)).filter((link) => link !== null);

/** The links of entries that the admin may read. */
export const linksOf = async (
  response: ServiceResponse,
  mayRead: MayRead,
  typeOf: TypeOf,
): Promise<ContentLink[]> => {
  const rows = rowsOf(response, 'links');
  const isReadable = await readableOf(rows, mayRead);
  return linksIn(rows.filter(isReadable), typeOf);
};

/** The links whose address, text or entry has a part. */
export const linksWith = (links: ContentLink[], search: string | undefined): ContentLink[] => {
  const part = search?.toLowerCase();
  if (!part) return links;
  return links.filter(
    (link) =>
      hasUrl(link.address, part) ||
      link.text.toLowerCase().includes(part) ||
      link.documentId.toLowerCase().includes(part),
  );
};

const isBroken = ({ verdict }: ContentLink): boolean => verdict === 'gone' || verdict === 'no_such_page';

/** The links of an entry in a locale, and those to it: two responses of the service. */
export const documentLinksOf = async (
  own: ServiceResponse,
  incoming: ServiceResponse | null,
  { documentId, locale }: { documentId: string; locale?: string | undefined },
  mayRead: MayRead,
  typeOf: TypeOf,
): Promise<DocumentLinks> => {
  const isOpen = (row: Row): boolean => !locale || !row.locale || row.locale === locale;
  const links = linksIn(rowsOf(own, 'links').filter(isOpen), typeOf);
  const broken = links.filter(isBroken);
  const others = links.filter((link) => !isBroken(link));
  const linking = incoming ? rowsOf(incoming, 'links').filter((row) => row.documentId !== documentId) : [];
  const isReadable = await readableOf(linking, mayRead);
  const byId = (rows: Row[]): Row[] => [
    ...new Map(rows.map((row) => [`${text(row.contentType)} ${text(row.documentId)}`, row])).values(),
  ];
  const [all, readable] = [byId(linking), byId(linking.filter(isReadable))];
  return {
    broken: broken.length,
    links: [...broken, ...others].slice(0, MAX_SHOWN),
    entries: {
      count: readable.length,
      more: all.length > readable.length,
      first: readable.slice(0, MAX_SHOWN).map((row) => entryOf(row, typeOf)),
    },
  };
};
