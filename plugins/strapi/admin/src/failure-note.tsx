import { Button, Flex, Typography } from '@strapi/design-system';
import { mayPass, type Loaded } from './api/loaded';
import { useText } from './texts';

/** Why there is nothing, with a button where another attempt may help; null where there is something. */
export const FailureNote = ({ loaded, retry }: { loaded: Loaded<unknown>; retry: () => void }) => {
  const text = useText();
  const failure = loaded.state === 'done' && 'failure' in loaded.result ? loaded.result.failure : null;
  if (loaded.state !== 'error' && !failure) return null;
  return (
    <Flex direction="column" alignItems="flex-start" gap={2} data-frontend-map="failure">
      <Typography role="status" textColor="neutral600">
        {text(failure ? `failure.${failure}` : 'panel.error')} {mayPass(loaded) && text('retry.automatic')}
      </Typography>
      {mayPass(loaded) && (
        <Button variant="tertiary" size="S" onClick={retry}>
          {text('retry.now')}
        </Button>
      )}
    </Flex>
  );
};
