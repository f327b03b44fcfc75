import { useQueryParams } from '@strapi/strapi/admin';
import { Box, Button, Flex, Link, LinkButton, Typography, VisuallyHidden } from '@strapi/design-system';
import { Duplicate, ExternalLink } from '@strapi/icons';
import { Link as RouterLink, useLocation } from 'react-router-dom';
import { hasLink, type Address, type NoLink, type PathOwner, type Related } from '../../../shared/reports';
import { entryLink } from '../entry-link';
import { OwnerLink } from '../owner';
import { fieldToFix, reasonText } from '../reasons';
import { useText } from '../texts';
import { UrlText } from '../url-text';
import { Warning } from '../warning';
import { useCopy } from './use-copy';

interface Props {
  address: Address;
  title: string;
  /** The page can be opened; a draft's URL leads nowhere yet. */
  isLive: boolean;
}

export const AddressView = ({ address, title, isLive }: Props) => {
  const text = useText();
  const heading = isLive ? text('panel.no-link') : text('panel.draft-no-link');
  return (
    <Box>
      <Typography variant="sigma" textColor="neutral600" tag="h3">
        {hasLink(address) ? title : heading}
      </Typography>
      {hasLink(address) ? (
        <>
          <UrlText url={address.url} />
          {address.owner !== undefined && <SharedNote owner={address.owner} isLive={isLive} />}
          {isLive && <Buttons url={address.url} />}
        </>
      ) : (
        <Reason address={address} />
      )}
    </Box>
  );
};

/** The URL opens, or would open, another document. */
const SharedNote = ({ owner, isLive }: { owner: PathOwner | null; isLive: boolean }) => {
  const text = useText();
  return (
    <Flex direction="column" alignItems="flex-start" gap={2} paddingTop={2} data-frontend-map="shared">
      <Warning>{text(isLive ? 'shared.live' : 'shared.draft')}</Warning>
      {owner && <OwnerLink owner={owner} />}
    </Flex>
  );
};

const Buttons = ({ url }: { url: string }) => {
  const text = useText();
  const copy = useCopy();
  return (
    <Flex direction="column" alignItems="stretch" gap={2} paddingTop={2}>
      <LinkButton
        href={url}
        target="_blank"
        rel="noopener noreferrer"
        variant="secondary"
        startIcon={<ExternalLink aria-hidden />}
        width="100%"
      >
        {text('panel.open')} <VisuallyHidden>({text('new-tab')})</VisuallyHidden>
      </LinkButton>
      <Button variant="tertiary" startIcon={<Duplicate aria-hidden />} onClick={() => copy(url)} fullWidth>
        {text('panel.copy')}
      </Button>
    </Flex>
  );
};

const Reason = ({ address }: { address: NoLink }) => {
  const text = useText();
  const { search } = useLocation();
  const field = fieldToFix(address.reason);
  const query = new URLSearchParams(search);
  // Strapi's form focuses the field of this parameter.
  if (field) query.set('field', field);
  return (
    <Flex direction="column" alignItems="flex-start" gap={2}>
      <Typography tag="p">{reasonText(text, address)}</Typography>
      {address.related ? (
        <RelatedEntry related={address.related} />
      ) : (
        field && (
          <Link tag={RouterLink} to={{ search: `?${query}` }}>
            {text('panel.fix', { field: address.labels?.[field] ?? field })}
          </Link>
        )
      )}
    </Flex>
  );
};

/** In the locale of the open document. */
const RelatedEntry = ({ related }: { related: Related }) => {
  const text = useText();
  const [{ query }] = useQueryParams<{ plugins?: { i18n?: { locale?: string } } }>();
  const locale = query.plugins?.i18n?.locale ?? '';
  const version = { contentType: related.uid, documentId: related.documentId, locale };
  return (
    <Link tag={RouterLink} to={entryLink(version, related.isSingle)}>
      {text('panel.related')}
    </Link>
  );
};
