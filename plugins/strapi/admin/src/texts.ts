import { useIntl } from 'react-intl';
import en from './translations/en.json';
import { PLUGIN_ID } from './plugin-id';

export type TextId = keyof typeof en;

/** A text of the plugin for Strapi's own components. */
export const descriptor = (id: TextId) => ({ id: `${PLUGIN_ID}.${id}`, defaultMessage: en[id] });

export type Text = (id: TextId, values?: Record<string, string | number>) => string;

/** The plugin's texts in the language of the admin, in English where that has none. */
export const useText = (): Text => {
  const { formatMessage } = useIntl();
  return (id, values) => formatMessage(descriptor(id), values);
};
