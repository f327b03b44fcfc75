import { Link } from '@strapi/design-system';
import { Link as RouterLink, useLocation } from 'react-router-dom';
import { useText } from '../texts';

/** Strapi's own page for previews of this document. */
export const PreviewLink = () => {
  const text = useText();
  const { search } = useLocation();
  return (
    <Link tag={RouterLink} to={{ pathname: 'preview', search }}>
      {text('panel.preview')}
    </Link>
  );
};
