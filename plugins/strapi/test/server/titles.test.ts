import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTitles } from '../../server/src/operations/titles';
import type { Overview, Problem } from '../../shared/problems';

const noUrl = (contentType: string, documentId: string, locale: string, title?: string): Problem => ({
  kind: 'no_url',
  reason: 'slug_empty',
  contentType,
  documentId,
  locale,
  ...(title && { title }),
});

const overviewOf = (problems: Problem[]): Overview => ({
  problems: { count: problems.length, truncated: false, problems },
  checks: [],
  moves: null,
});

const titlesOf = ({ problems }: Overview) =>
  problems.problems.map((one) => (one.kind === 'no_url' ? one.title : ''));

test('titles: of the version in its locale, or of a document that is not localized', async () => {
  const overview = overviewOf([
    noUrl('a', '1', 'en'),
    noUrl('a', '1', 'de'),
    noUrl('b', '1', 'en'),
    noUrl('a', '2', 'en'),
  ]);
  await addTitles(overview, async (uid) =>
    uid === 'a'
      ? [
          { documentId: '1', locale: 'en', title: 'One' },
          { documentId: '1', locale: 'de', title: 'Eins' },
        ]
      : [{ documentId: '1', locale: null, title: 'Same' }],
  );
  assert.deepEqual(titlesOf(overview), ['One', 'Eins', 'Same', undefined]);
});

test('titles: those of the service stay, and 500 rows are read, 100 at a time', async () => {
  const rows = Array.from({ length: 600 }, (_, at) => noUrl('a', String(at), 'en'));
  const overview = overviewOf([noUrl('a', 'x', 'en', 'Given'), ...rows]);
  const asked: number[] = [];
  await addTitles(overview, async (_uid, ids) => {
    asked.push(ids.length);
    return ids.map((documentId) => ({ documentId, locale: 'en', title: `T${documentId}` }));
  });
  assert.deepEqual(asked, [100, 100, 100, 100, 100]);
  assert.deepEqual(
    [titlesOf(overview)[0], titlesOf(overview)[500], titlesOf(overview)[501]],
    ['Given', 'T499', undefined],
  );
});
