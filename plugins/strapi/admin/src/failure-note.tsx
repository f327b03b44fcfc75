import { Button, Flex, Typography } from '@strapi/design-system';
import { failureOf, mayPass, type Loaded } from './api/loaded';
import { useText } from './texts';

/** Why there is nothing, or a part is missing, with a button where another attempt may help; else null. */
export const FailureNote = ({ loaded, retry }: { loaded: Loaded<unknown>; retry: () => void }) => {
  const text = useText();
  const failure = failureOf(loaded);
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
