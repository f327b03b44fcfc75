import { SearchInput } from '@strapi/strapi/admin';
import { Flex, Link, SingleSelect, SingleSelectOption, Td, Tr, Typography } from '@strapi/design-system';
import { Link as RouterLink } from 'react-router-dom';
import { LINK_KINDS, type ContentLink, type Links } from '../../../shared/links';
import { useResult } from '../api/use-result';
import { entryLink } from '../entry-link';
import { linkText } from '../link-text';
import { useText, type TextId } from '../texts';
import { UrlText } from '../url-text';
import type { PageState } from './state';
import { PagedTable, Shown } from './table';

const COLUMNS: TextId[] = ['links.entry', 'links.field', 'links.address', 'links.verdict'];

/** Links in content that lead to no page; by choice those that redirect or are written otherwise. */
export const LinksTab = ({ site, state }: { site: string; state: PageState }) => {
  const text = useText();
  return (
    <Shown of={useResult<Links>(state.path('/links', site))}>
      {(links) =>
        links ? (
          <>
            <Flex gap={2}>
              <SearchInput
                label={text('table.search')}
                placeholder={text('table.search')}
                trackedEvent={null}
              />
              <SingleSelect
                aria-label={text('links.kind')}
                value={state.of('kind') || 'broken'}
                onChange={(kind) => state.choose({ kind: String(kind) })}
              >
                {LINK_KINDS.map((kind) => (
                  <SingleSelectOption key={kind} value={kind}>
                    {text(`links.kind.${kind}`)}
                  </SingleSelectOption>
                ))}
              </SingleSelect>
            </Flex>
            <PagedTable
              page={links}
              columns={COLUMNS}
              status={text('links.count', { count: links.count })}
              row={(link: ContentLink, at) => <LinkRow key={at} link={link} />}
            />
          </>
        ) : (
          <Typography tag="p">{text('links.off')}</Typography>
        )
      }
    </Shown>
  );
};

const LinkRow = ({ link }: { link: ContentLink }) => {
  const text = useText();
  return (
    <Tr>
      <Td>
        <Link tag={RouterLink} to={entryLink(link, link.isSingle)}>
          {`${link.typeName} ${link.documentId}`}
        </Link>
      </Td>
      <Td>
        <Typography>{link.field}</Typography>
      </Td>
      <Td>
        {link.text && <Typography tag="p">{link.text}</Typography>}
        <UrlText url={link.address} />
      </Td>
      <Td>
        <Typography>{linkText(text, link)}</Typography>
      </Td>
    </Tr>
  );
};
