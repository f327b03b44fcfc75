import { useNotification, useRBAC } from '@strapi/strapi/admin';
import { ExternalLink } from '@strapi/icons';
import type { Failure } from '../../../shared/failures';
import { READ_URL } from '../permissions';
import { hasRule, lastParts } from '../parts';
import { reasonText } from '../reasons';
import { useText } from '../texts';
import { requestRow } from './rows';

interface Props {
  model: string;
  documentId?: string;
  document?: { locale?: string | null; status?: string };
}

/** "Open live page" in the menu of a row. */
export const OpenAction = ({ model, documentId, document }: Props) => {
  const text = useText();
  const { allowedActions } = useRBAC(READ_URL);
  const { toggleNotification } = useNotification();
  if (!allowedActions.canReadUrl || !documentId || document?.status === 'draft') return null;
  if (!hasRule(lastParts(), model)) return null;

  const open = async () => {
    // In the click itself: a window that is opened after the response is a blocked pop-up.
    const tab = window.open('', '_blank');
    const found = await requestRow(model, document?.locale ?? undefined, documentId);
    if (tab && 'url' in found) {
      tab.opener = null;
      tab.location.replace(found.url);
      return;
    }
    tab?.close();
    const message =
      'failure' in found
        ? text(`failure.${found.failure as Failure}`)
        : 'reason' in found
          ? reasonText(text, found)
          : text('action.blocked');
    toggleNotification({ type: 'warning', message });
  };

  return {
    label: text('panel.open'),
    icon: <ExternalLink aria-hidden />,
    onClick: open,
    position: 'table-row',
  };
};

OpenAction.type = 'frontend-map-open';
// Strapi mounts an action without a static position everywhere.
OpenAction.position = 'table-row';
