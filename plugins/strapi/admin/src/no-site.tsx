import { useRBAC } from '@strapi/strapi/admin';
import { Link, Typography } from '@strapi/design-system';
import { Link as RouterLink } from 'react-router-dom';
import { MANAGE_SETTINGS } from './permissions';
import { useText } from './texts';

/** There is no site to report on, and where to set one. */
export const NoSite = () => {
  const text = useText();
  const { allowedActions } = useRBAC(MANAGE_SETTINGS);
  return (
    <>
      <Typography tag="p">{text('page.no-site')}</Typography>
      {allowedActions.canManageSettings && (
        <Link tag={RouterLink} to="/settings/frontend-map">
          {text('page.set-site')}
        </Link>
      )}
    </>
  );
};
