import { Typography } from '@strapi/design-system';
import * as React from 'react';
import { decoded } from './decoded';

/** A URL or a path as text that breaks behind slashes, and keeps its order in right-to-left text. */
export const UrlText = ({ url }: { url: string }) => (
  <Typography dir="ltr" style={{ overflowWrap: 'anywhere' }}>
    {decoded(url)
      .split(/(?<=\/)/)
      .map((part, at) => (
        <React.Fragment key={at}>
          {part}
          <wbr />
        </React.Fragment>
      ))}
  </Typography>
);
