import { Box, Button, Checkbox, Field, Flex, TextInput, Typography } from '@strapi/design-system';
import type { Parts, SettingsView, Source } from '../../../shared/settings';
import { nameOf, useContentTypes } from '../api/use-content-types';
import { useText, type Text } from '../texts';
import { Section } from './section';
import type { Draft } from './use-settings';

interface Props {
  view: SettingsView;
  draft: Draft;
  onChange: (draft: Draft) => void;
}

export const SettingsForm = (props: Props) => {
  const text = useText();
  return (
    <Flex direction="column" alignItems="stretch" gap={6}>
      <Section title={text('settings.service')}>
        <Connection {...props} />
      </Section>
      <Section title={text('settings.sites')}>
        <Sites {...props} />
      </Section>
      <Section title={text('settings.parts')}>
        <PartsChoice {...props} />
      </Section>
    </Flex>
  );
};

const hintOf = (text: Text, source: Source): string =>
  ({
    configuration: text('settings.from-configuration'),
    stored: text('settings.is-set'),
    unset: text('settings.is-unset'),
  })[source];

const TOKENS = ['draftToken', 'validateToken'] as const;

const Connection = ({ view, draft, onChange }: Props) => {
  const text = useText();
  const isFixed = view.urlSource === 'configuration';
  return (
    <>
      <Field.Root name="url" hint={isFixed ? text('settings.from-configuration') : text('settings.url-hint')}>
        <Field.Label>{text('settings.url')}</Field.Label>
        <TextInput
          type="url"
          dir="ltr"
          placeholder="http://frontend-map:8080"
          value={draft.url}
          disabled={isFixed}
          onChange={(event: { target: { value: string } }) => onChange({ ...draft, url: event.target.value })}
        />
        <Field.Hint />
      </Field.Root>
      {TOKENS.map((name) => (
        <Token key={name} name={name} view={view} draft={draft} onChange={onChange} />
      ))}
    </>
  );
};

/** It is never sent back, so that the field is empty until a new token is typed. */
const Token = ({ name, view, draft, onChange }: Props & { name: (typeof TOKENS)[number] }) => {
  const text = useText();
  const isFixed = view.urlSource === 'configuration' || view[name] === 'configuration';
  return (
    <Field.Root name={name} hint={hintOf(text, view[name])}>
      <Field.Label>{text(`settings.${name}`)}</Field.Label>
      <TextInput
        type="password"
        autoComplete="off"
        value={draft[name] ?? ''}
        disabled={isFixed}
        onChange={(event: { target: { value: string } }) =>
          onChange({ ...draft, [name]: event.target.value || undefined })
        }
      />
      <Field.Hint />
      {view[name] === 'stored' && draft[name] !== '' && (
        <Box paddingTop={2}>
          <Button variant="danger-light" size="S" onClick={() => onChange({ ...draft, [name]: '' })}>
            {text(`settings.remove.${name}`)}
          </Button>
        </Box>
      )}
    </Field.Root>
  );
};

const Sites = ({ view, draft, onChange }: Props) => {
  const text = useText();
  const isFixed = view.siteSource === 'configuration';
  const types = useContentTypes();
  const set = (uid: string, site: string) => onChange({ ...draft, sites: { ...draft.sites, [uid]: site } });
  const uids = [...new Set([...types.map(({ uid }) => uid), ...Object.keys(draft.sites)])];
  return (
    <>
      <Field.Root name="site" hint={text(isFixed ? 'settings.from-configuration' : 'settings.site-hint')}>
        <Field.Label>{text('settings.site')}</Field.Label>
        <TextInput
          value={draft.site}
          disabled={isFixed}
          onChange={(event: { target: { value: string } }) =>
            onChange({ ...draft, site: event.target.value })
          }
        />
        <Field.Hint />
      </Field.Root>
      <details>
        <Typography tag="summary">{text('settings.site-by-type')}</Typography>
        <Flex direction="column" alignItems="stretch" gap={3} paddingTop={3}>
          {uids.map((uid) => (
            <Field.Root key={uid} name={`site of ${uid}`}>
              <Field.Label>{nameOf(types, uid)}</Field.Label>
              <TextInput
                placeholder={draft.site}
                value={draft.sites[uid] ?? ''}
                onChange={(event: { target: { value: string } }) => set(uid, event.target.value)}
              />
            </Field.Root>
          ))}
        </Flex>
      </details>
    </>
  );
};

const PartsChoice = ({ draft, onChange }: Props) => {
  const text = useText();
  const set = (name: keyof Parts, isOn: boolean) =>
    onChange({ ...draft, parts: { ...draft.parts, [name]: isOn } });
  return (
    <Flex direction="column" alignItems="flex-start" gap={2}>
      {(['panel', 'column', 'widget'] as const).map((name) => (
        <Checkbox key={name} checked={draft.parts[name]} onCheckedChange={(isOn) => set(name, isOn === true)}>
          {text(`settings.parts.${name}`)}
        </Checkbox>
      ))}
    </Flex>
  );
};
