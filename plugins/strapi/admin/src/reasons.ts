import type { Reason as Given } from '../../shared/reports';
import en from './translations/en.json';
import type { Text, TextId } from './texts';

/** A reason of the service in two parts: the placeholder that is at fault, and what is wrong. */
export interface Reason {
  /** `slug`, or `category.slug`; null for a reason that is about the document. */
  field: string | null;
  text: TextId;
}

const WHOLE = [
  'no_rule',
  'no_version',
  'no_translation',
  'only_draft',
  'no_base_url',
  'locale_unknown',
  'locale_without_template',
  'conditions_not_met',
  'not_published',
  'url_too_long',
  'path_taken_by_page',
  'path_ancestor_cycle',
  'path_too_many_ancestors',
  'unknown',
  'invalid',
];

const ENDINGS = [
  'relation_missing',
  'missing',
  'empty',
  'not_string',
  'control_char',
  'bidi_or_invisible',
  'bad_codepoint',
  'backslash',
  'has_slash',
  'empty_segment',
  'ends_with_slash',
  'dot_segment',
  'unsafe_after_decoding',
  'not_allowed',
  'not_a_date',
];

const isText = (id: string): id is TextId => id in en;

/** `slug_has_slash` is `slug` and `has_slash`. A reason of a later version of the service has no words. */
export const parseReason = (reason: string): Reason => {
  const whole = `reason.${reason}`;
  if (WHOLE.includes(reason) && isText(whole)) return { field: null, text: whole };
  const ending = ENDINGS.find((ending) => reason.endsWith(`_${ending}`));
  const field = ending && reason.slice(0, -ending.length - 1);
  if (!field) return { field: null, text: 'reason.other' };
  const id = `reason.field.${ending}`;
  return isText(id) ? { field, text: id } : { field: null, text: 'reason.other' };
};

/** A path of fields by the names in forms: `Category → Slug` for `category.slug`. */
const named = (path: string, labels: Record<string, string> = {}): string =>
  path
    .split('.')
    .map((key) => labels[key] ?? key)
    .join(' → ');

/** The reason in the editor's words, with the related entry that is at fault, or has the value. */
export const reasonText = (text: Text, { reason, labels, related }: Given): string => {
  const { field, text: id } = parseReason(reason);
  if (!related || !field) return text(id, { field: named(field ?? '', labels), reason });
  const path = named(related.path, labels);
  const title = related.title ?? related.documentId;
  if (related.isAtFault) return text(`reason.related.${related.state}`, { title, path });
  const rest = field.startsWith(`${related.path}.`) ? field.slice(related.path.length + 1) : field;
  return text('reason.of-related', { title, path, reason: text(id, { field: named(rest, labels), reason }) });
};

/** The field of the open document that has to be changed: `category` of `category.slug`. */
export const fieldToFix = (reason: string): string | null => {
  const { field } = parseReason(reason);
  return field?.split(/[.:]/)[0] ?? null;
};
