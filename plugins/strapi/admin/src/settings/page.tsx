import { getFetchClient, Layouts, Page, useNotification } from '@strapi/strapi/admin';
import { Box, Button, Flex } from '@strapi/design-system';
import * as React from 'react';
import type { SettingsInput, SettingsView } from '../../../shared/settings';
import { MANAGE_SETTINGS } from '../permissions';
import { rememberParts } from '../parts';
import { useText, type TextId } from '../texts';
import { ConnectionSection } from './connection';
import { SettingsForm } from './form';
import { WebhookSection } from './webhook';

/** A token that is not typed anew is left out, and so stays as it is. */
export type Draft = SettingsInput;

const draftOf = ({ url, site, sites, parts }: SettingsView): Draft => ({ url, site, sites, parts });

/** The part of Strapi's errors that is read here. */
interface RequestError {
  response?: { data?: { error?: { details?: { reason?: string } } } };
}

const failureOf = (error: unknown): TextId =>
  (error as RequestError).response?.data?.error?.details?.reason === 'no-encryption-key'
    ? 'settings.no-key'
    : 'settings.invalid';

const SettingsPage = () => {
  const text = useText();
  const { toggleNotification } = useNotification();
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
      .get<SettingsView>('/frontend-map/settings', { signal: abort.signal })
      .then(({ data }) => show(data))
      .catch(() => !abort.signal.aborted && setFailed(true));
    return () => abort.abort();
  }, []);

  if (isFailed) return <Page.Error />;
  if (!view || !draft) return <Page.Loading />;

  const save = async (event: React.FormEvent) => {
    event.preventDefault();
    // An address of the configuration is not stored a second time.
    const input = view.urlSource === 'configuration' ? { ...draft, url: '' } : draft;
    try {
      const { data } = await getFetchClient().put<SettingsView>('/frontend-map/settings', input);
      show(data);
      toggleNotification({ type: 'success', message: text('settings.saved') });
    } catch (error) {
      toggleNotification({ type: 'danger', message: text(failureOf(error)) });
    }
  };
  const isChanged = JSON.stringify(draft) !== JSON.stringify(draftOf(view));
  return (
    <Page.Main>
      <Page.Title>{text('settings.title')}</Page.Title>
      <form onSubmit={save} noValidate>
        <Layouts.Header
          title={text('settings.title')}
          subtitle={text('settings.subtitle')}
          primaryAction={
            <Button type="submit" disabled={!isChanged}>
              {text('settings.save')}
            </Button>
          }
        />
        <Layouts.Content>
          <SettingsForm view={view} draft={draft} onChange={setDraft} />
        </Layouts.Content>
      </form>
      <Layouts.Content>
        <Flex direction="column" alignItems="stretch" gap={6} paddingTop={6}>
          <ConnectionSection isChanged={isChanged} />
          <WebhookSection hasSecret={view.hookSecret} hasAddress={Boolean(view.url)} />
        </Flex>
        <Box paddingBottom={8} />
      </Layouts.Content>
    </Page.Main>
  );
};

/** Only for admins with the permission to change the settings. */
const ProtectedPage = () => (
  <Page.Protect permissions={MANAGE_SETTINGS}>
    <SettingsPage />
  </Page.Protect>
);

export default ProtectedPage;
