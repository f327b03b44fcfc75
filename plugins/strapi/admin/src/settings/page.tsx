import { Layouts, Page, useNotification } from '@strapi/strapi/admin';
import { Box, Button, Flex } from '@strapi/design-system';
import type * as React from 'react';
import { MANAGE_SETTINGS } from '../permissions';
import { useText, type TextId } from '../texts';
import { ConnectionSection } from './connection';
import { SettingsForm } from './form';
import { useSettings } from './use-settings';
import { WebhookSection } from './webhook';

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
  const { view, draft, setDraft, isFailed, isChanged, save } = useSettings();

  if (isFailed) return <Page.Error />;
  if (!view || !draft) return <Page.Loading />;

  const submit = async (event: React.FormEvent) => {
    event.preventDefault();
    try {
      await save();
      toggleNotification({ type: 'success', message: text('settings.saved') });
    } catch (error) {
      toggleNotification({ type: 'danger', message: text(failureOf(error)) });
    }
  };
  return (
    <Page.Main>
      <Page.Title>{text('settings.title')}</Page.Title>
      <form onSubmit={submit} noValidate>
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
