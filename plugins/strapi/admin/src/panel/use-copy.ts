import { useClipboard, useNotification } from '@strapi/strapi/admin';
import { useText } from '../texts';

/** Copies a URL as it is, percent-encoded. */
export const useCopy = (): ((url: string) => Promise<void>) => {
  const text = useText();
  const { copy } = useClipboard();
  const { toggleNotification } = useNotification();
  return async (url) => {
    const isCopied = await copy(url);
    toggleNotification({
      type: isCopied ? 'success' : 'danger',
      message: text(isCopied ? 'panel.copied' : 'panel.copy-failed'),
    });
  };
};
