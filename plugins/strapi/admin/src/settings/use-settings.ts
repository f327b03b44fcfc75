import { getFetchClient } from '@strapi/strapi/admin';
import * as React from 'react';
import type { SettingsInput, SettingsView } from '../../../shared/settings';
import { rememberParts } from '../parts';

const PATH = '/frontend-map/settings';

/** A token that is not typed anew is left out, and so stays as it is. */
export type Draft = SettingsInput;

const draftOf = ({ url, site, sites, parts }: SettingsView): Draft => ({ url, site, sites, parts });

/** The stored settings, and the changes to them; both are null until the settings are loaded. */
export const useSettings = () => {
  const [view, setView] = React.useState<SettingsView | null>(null);
  const [draft, setDraft] = React.useState<Draft | null>(null);
  const [isFailed, setFailed] = React.useState(false);

  const show = (found: SettingsView) => {
    setView(found);
    setDraft(draftOf(found));
    rememberParts(found.parts);
  };
  React.useEffect(() => {
    const abort = new AbortController();
    getFetchClient()
      .get<SettingsView>(PATH, { signal: abort.signal })
      .then(({ data }) => show(data))
      .catch(() => !abort.signal.aborted && setFailed(true));
    return () => abort.abort();
  }, []);

  /** Rejects with Strapi's error. */
  const save = async (): Promise<void> => {
    // An address of the configuration is not stored a second time.
    const input = {
      ...draft,
      ...(view?.urlSource === 'configuration' && { url: '' }),
      ...(view?.siteSource === 'configuration' && { site: '' }),
    };
    const { data } = await getFetchClient().put<SettingsView>(PATH, input);
    show(data);
  };
  const isChanged = view !== null && JSON.stringify(draft) !== JSON.stringify(draftOf(view));
  return { view, draft, setDraft, isFailed, isChanged, save };
};
