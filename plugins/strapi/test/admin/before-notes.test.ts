import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishNotes, withdrawNotes } from '../../admin/src/panel/before-notes';
import type { Before, Effect } from '../../shared/reports';

const none = { count: 0, more: false };
const NOTHING: Effect = {
  ...{ conflict: null, redirect: null, moves: null, dependents: none, redirects: false },
  ...{ gone: none, unpublished: [] },
};
type Action = Exclude<keyof Before, 'isPublished' | 'moving'>;
const MOVING = [{ from: '/en/caf%C3%A9/tea', to: '/en/caf%C3%A9s/tea' }];
const before = (effects: { [One in Action]?: Partial<Effect> }, isPublished = true): Before => ({
  isPublished,
  moving: MOVING,
  publish: { ...NOTHING, ...effects.publish },
  unpublish: { ...NOTHING, ...effects.unpublish },
  delete: { ...NOTHING, ...effects.delete },
});
const OWNER = { contentType: 'api::b.b', documentId: 'b1', locale: 'en', isSingle: false, title: 'Imprint' };
const texts = (effect: Partial<Effect>, hasLink = true) =>
  publishNotes(before({ publish: effect }), hasLink).map(({ text }) => text);

test('before: nothing to say of a page that stays', () => {
  assert.deepEqual(texts({}), []);
  const gone = { gone: { count: 1, more: false } };
  assert.deepEqual(withdrawNotes(before({ unpublish: gone })), []);
  const others = withdrawNotes(before({ delete: gone }, false));
  assert.deepEqual(
    others.map(({ text }) => text),
    ['before.delete'],
  );
});

test('before: a page that moves with others, decoded', () => {
  const moves = { from: '/en/caf%C3%A9', to: '/en/caf%C3%A9s', redirects: true, redirect: false };
  const notes = publishNotes(
    before({ publish: { moves, dependents: { count: 3688, more: true }, redirects: true } }),
    true,
  );
  assert.deepEqual(notes, [
    { text: 'before.moves', values: { from: '/en/café', to: '/en/cafés' }, isWarning: false },
    { text: 'before.dependents', values: { count: 3688, more: 'true' }, moving: MOVING, isWarning: false },
  ]);
  const lost = { moves: { ...moves, redirects: false }, dependents: { count: 1, more: false } };
  assert.deepEqual(texts(lost), ['before.moves.lost', 'before.dependents.lost']);
  assert.deepEqual(texts({ dependents: { count: 0, more: true } }), ['before.more']);
});

test('before: a conflict, unless the address of the draft says it', () => {
  assert.deepEqual(texts({ conflict: { wins: 'other', owner: OWNER } }), []);
  assert.deepEqual(texts({ conflict: { wins: 'other', owner: null } }), []);
  assert.deepEqual(texts({ conflict: { wins: 'other', page: 'contact' } }), []);
  assert.deepEqual(texts({ conflict: { wins: 'other' } }), ['before.rule']);
  const [takes] = publishNotes(before({ publish: { conflict: { wins: 'this', owner: OWNER } } }), true);
  assert.deepEqual(takes, { text: 'before.takes', owner: OWNER, isWarning: true });
  assert.deepEqual(texts({ conflict: { wins: 'unknown', owner: OWNER } }), ['before.unknown']);
});

test('before: a relation that is missing, and pages that are gone', () => {
  assert.deepEqual(texts({ unpublished: ['parent'] }), ['before.unpublished']);
  assert.deepEqual(texts({ unpublished: ['category'] }, false), [], 'the reason says it');
  assert.deepEqual(texts({ gone: { count: 1, more: false } }, false), ['before.gone']);
});

test('before: pages that go with a version that is withdrawn', () => {
  const gone = (count: number) => ({ count, more: false });
  const notes = withdrawNotes(
    before({ unpublish: { gone: gone(3), dependents: gone(2) }, delete: { gone: gone(5) } }),
  );
  assert.deepEqual(
    notes.map(({ text, values }) => [text, values?.count]),
    [
      ['before.unpublish', 3],
      ['before.unpublish.moves', 2],
      ['before.delete', 5],
    ],
  );
  assert.deepEqual(
    withdrawNotes(before({ unpublish: { gone: gone(3) }, delete: { gone: gone(3) } })).length,
    1,
  );
});

test('before: a redirect that hides the page, has no effect, or decides where the old path leads', () => {
  assert.deepEqual(texts({ redirect: { to: '/en/x', force: true } }), ['before.hidden']);
  assert.deepEqual(texts({ redirect: { to: null, force: false } }), ['before.shadows']);
  // The page does not have the path.
  const conflict = { wins: 'other' as const, owner: OWNER };
  assert.deepEqual(texts({ conflict, redirect: { to: '/en/x', force: false } }), []);
  assert.deepEqual(texts({ redirect: { to: '/en/x', force: false } }, false), []);
  const moves = { from: '/en/a', to: '/en/b', redirects: false, redirect: true };
  assert.deepEqual(texts({ moves }), ['before.moves.redirect']);
  assert.deepEqual(texts({ moves: { ...moves, redirects: true } }), ['before.moves']);
});

test('before: a withdrawn page whose visitors are redirected is not among those that are gone', () => {
  const gone = { count: 1, more: false };
  const notes = (to: string | null, isPublished = true) =>
    withdrawNotes(
      before({ unpublish: { gone, redirect: { to, force: false } }, delete: { gone } }, isPublished),
    );
  assert.deepEqual(notes('/en/caf%C3%A9')[0], {
    ...{ text: 'before.withdraw.redirect', values: { to: '/en/café' }, isWarning: false },
  });
  const names = notes('/en/x').map(({ text }) => text);
  assert.deepEqual(names, ['before.withdraw.redirect', 'before.unpublish']);
  assert.deepEqual(notes(null), []);
  assert.deepEqual(
    notes('/en/x', false).map(({ text }) => text),
    ['before.unpublish'],
  );
});
