import { getFetchClient } from '@strapi/strapi/admin';
import { Box, Button, Typography } from '@strapi/design-system';
import * as React from 'react';
import type { ConnectionTest } from '../../../shared/connection';
import { useText } from '../texts';
import { Section } from './section';

const PARTS = ['address', 'drafts', 'reports', 'site'] as const;

/** *Test connection*: it tests what is stored, so it waits for changes to be saved. */
export const ConnectionSection = ({ isChanged }: { isChanged: boolean }) => {
  const text = useText();
  const [state, setState] = React.useState<ConnectionTest | 'testing' | 'error' | null>(null);
  const test = async () => {
    setState('testing');
    try {
      const { data } = await getFetchClient().post<ConnectionTest>('/frontend-map/settings/test');
      setState(data);
    } catch {
      setState('error');
    }
  };
  return (
    <Section title={text('test.title')}>
      <Typography textColor="neutral600">{text(isChanged ? 'test.save-first' : 'test.hint')}</Typography>
      <Box>
        <Button variant="secondary" onClick={test} disabled={isChanged} loading={state === 'testing'}>
          {text('test.run')}
        </Button>
      </Box>
      <Box role="status" data-frontend-map="test">
        {state === 'error' && <Typography textColor="danger600">{text('test.error')}</Typography>}
        {state && typeof state === 'object' && <Result found={state} />}
      </Box>
    </Section>
  );
};

const Result = ({ found }: { found: ConnectionTest }) => {
  const text = useText();
  return (
    <ul>
      {PARTS.map((part) => {
        const failure = found[part];
        if (failure === undefined) return null;
        return (
          <li key={part}>
            <Typography textColor={failure ? 'danger600' : 'success700'}>
              {text(`test.${part}`)}: {failure ? text(`failure.${failure}`) : text('test.ok')}
            </Typography>
          </li>
        );
      })}
    </ul>
  );
};
