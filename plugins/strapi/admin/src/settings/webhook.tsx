import { ConfirmDialog, getFetchClient, useNotification } from '@strapi/strapi/admin';
import { Box, Button, Dialog, Flex, Link, Typography } from '@strapi/design-system';
import { Link as RouterLink } from 'react-router-dom';
import { useText } from '../texts';
import { Section } from './section';

/** Creates the webhook after a question; the secret stays on the server. */
export const WebhookSection = ({ hasSecret, hasAddress }: { hasSecret: boolean; hasAddress: boolean }) => {
  const text = useText();
  const { toggleNotification } = useNotification();
  const create = async () => {
    try {
      await getFetchClient().post('/frontend-map/settings/webhook');
      toggleNotification({ type: 'success', message: text('webhook.saved') });
    } catch {
      toggleNotification({ type: 'danger', message: text('webhook.failed') });
    }
  };
  return (
    <Section title={text('webhook.title')}>
      <Typography textColor="neutral600">{text(hasSecret ? 'webhook.hint' : 'webhook.no-secret')}</Typography>
      <Box>
        <Dialog.Root>
          <Dialog.Trigger>
            <Button variant="secondary" disabled={!hasSecret || !hasAddress}>
              {text('webhook.create')}
            </Button>
          </Dialog.Trigger>
          <ConfirmDialog variant="secondary" onConfirm={create}>
            {text('webhook.confirm')}
          </ConfirmDialog>
        </Dialog.Root>
      </Box>
      <Flex gap={4}>
        <Link tag={RouterLink} to="/settings/webhooks">
          {text('webhook.list')}
        </Link>
        <Link tag={RouterLink} to="/settings/api-tokens">
          {text('webhook.tokens')}
        </Link>
      </Flex>
    </Section>
  );
};
