import { useQueryParams, useRBAC } from '@strapi/strapi/admin';
import { isWithoutRule, type DocumentReport } from '../../../shared/reports';
import { useResult } from '../api/use-result';
import { hasRule, useParts } from '../parts';
import { READ_URL } from '../permissions';
import { useText } from '../texts';
import { PanelContent } from './content';
import { LinksView } from './links';

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

/** The panel beside the form; nothing for admins without the permission, and for types without a rule. */
export const UrlPanel = ({ model, documentId, document, meta }: Props) => {
  const text = useText();
  const requested = useRequestedLocale();
  const { allowedActions } = useRBAC(READ_URL);
  const parts = useParts(allowedActions.canReadUrl ?? false);
  // Strapi names no id for a single type, and no document for a translation that is not saved.
  const id = document?.documentId;
  const locale = document?.locale ?? undefined;
  const isOther = Boolean(documentId && requested && locale && requested !== locale);
  const dates = (meta?.availableStatus ?? []).flatMap(({ publishedAt, updatedAt }) => [
    publishedAt,
    updatedAt,
  ]);
  const version = [document?.updatedAt, document?.publishedAt, document?.status, ...dates].join();
  const isOn = Boolean(parts?.panel) && hasRule(parts, model);
  const path = isOn && id && !isOther ? pathOf(model, id, locale) : null;
  const [loaded, retry] = useResult<DocumentReport>(path, version);
  const isWithout =
    loaded.state === 'done' && 'report' in loaded.result && isWithoutRule(loaded.result.report.published);
  if (!isOn || isWithout) return null;
  return {
    title: text('panel.title'),
    content: (
      <PanelContent
        loaded={path ? loaded : null}
        retry={retry}
        links={path && <LinksView query={path.split('?')[1] ?? ''} version={version} loaded={loaded} />}
      />
    ),
  };
};

const pathOf = (uid: string, documentId: string, locale: string | undefined): string =>
  `/document?${new URLSearchParams({ uid, documentId, ...(locale && { locale }) })}`;
