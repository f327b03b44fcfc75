import { Flex, Typography } from '@strapi/design-system';
import { WarningCircle } from '@strapi/icons';

/** What an editor would rather not have. Strapi's colours of warnings are too pale for text. */
export const Warning = ({ children }: { children: string }) => (
  <Flex gap={2} alignItems="flex-start">
    <WarningCircle fill="warning600" width="1.6rem" height="1.6rem" style={{ flexShrink: 0 }} aria-hidden />
    <Typography tag="p">{children}</Typography>
  </Flex>
);
