import { useQueryParams, useRBAC } from '@strapi/strapi/admin';
import { useParts } from '../parts';
import { READ_URL } from '../permissions';
import { useText } from '../texts';
import { PanelContent } from './content';

/** What Strapi knows of the version that is open. */
export interface OpenDocument {
  documentId?: string;
  locale?: string | null;
  status?: string;
  updatedAt?: string | null;
  publishedAt?: string | null;
}

interface Props {
  model: string;
  documentId?: string;
  document?: OpenDocument;
  meta?: { availableStatus?: { publishedAt?: string | null; updatedAt?: string | null }[] };
}

/** The locale in the address bar, which a type that is not localized ignores. */
const useRequestedLocale = (): string | undefined => {
  const [{ query }] = useQueryParams<{ plugins?: { i18n?: { locale?: string } } }>();
  return query.plugins?.i18n?.locale;
};

/** The panel beside the form; nothing for admins without the permission. */
export const UrlPanel = ({ model, documentId, document, meta }: Props) => {
  const text = useText();
  const requested = useRequestedLocale();
  const { allowedActions } = useRBAC(READ_URL);
  const parts = useParts(allowedActions.canReadUrl ?? false);
  if (!parts?.panel) return null;

  // Strapi names no id for a single type, and no document for a translation that is not saved.
  const id = document?.documentId;
  const locale = document?.locale ?? undefined;
  const isOther = Boolean(documentId && requested && locale && requested !== locale);
  const dates = (meta?.availableStatus ?? []).flatMap(({ publishedAt, updatedAt }) => [
    publishedAt,
    updatedAt,
  ]);
  const version = [document?.updatedAt, document?.publishedAt, document?.status, ...dates].join();
  const content =
    !id || isOther ? null : { uid: model, documentId: id, locale, status: document?.status, version };
  return { title: text('panel.title'), content: <PanelContent document={content} /> };
};
