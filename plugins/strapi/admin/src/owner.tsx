import { Link } from '@strapi/design-system';
import type * as React from 'react';
import { Link as RouterLink } from 'react-router-dom';
import type { PathOwner } from '../../shared/reports';
import { entryLink } from './entry-link';
import { useText } from './texts';

/** A link to the entry that owns a path. A click opens the entry, not the row that the link is in. */
export const OwnerLink = ({ owner }: { owner: PathOwner }) => {
  const text = useText();
  return (
    <Link
      tag={RouterLink}
      to={entryLink(owner, owner.isSingle)}
      onClick={(event: React.MouseEvent) => event.stopPropagation()}
    >
      {text('shared.owner', { title: owner.title ?? owner.documentId })}
    </Link>
  );
};
