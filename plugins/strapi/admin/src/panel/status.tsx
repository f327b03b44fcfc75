import { Badge, Flex } from '@strapi/design-system';
import { useText } from '../texts';

/** `modified` is a published document with a later draft. */
export const StatusChips = ({ status }: { status: string | undefined }) => {
  const text = useText();
  if (!status) return null;
  return (
    <Flex gap={1} wrap="wrap">
      {status !== 'draft' && (
        <Badge backgroundColor="success100" textColor="success700">
          {text('status.published')}
        </Badge>
      )}
      {status === 'modified' && (
        <Badge backgroundColor="alternative100" textColor="alternative700">
          {text('status.modified')}
        </Badge>
      )}
      {status === 'draft' && (
        <Badge backgroundColor="secondary100" textColor="secondary700">
          {text('status.draft')}
        </Badge>
      )}
    </Flex>
  );
};
