import type { Overview, ProblemVersion } from '../../../shared/problems';
import type { Title } from '../content/titles';
import { versionKey } from './reports';

/** A page of problems and more; the others keep their ids. */
const MOST_TITLES = 500;
/** Documents of one query. */
const MOST_AT_ONCE = 100;

export type ReadTitles = (uid: string, documentIds: string[]) => Promise<Title[]>;

const versionsOf = ({ problems, checks }: Overview): ProblemVersion[] => [
  ...checks.flatMap(({ dead }) => dead),
  ...problems.problems.flatMap((one) => (one.kind === 'no_url' ? [one] : [one.owner, ...one.others])),
];

/** Adds the titles of Strapi to the first 500 rows that have none from the service. */
export const addTitles = async (overview: Overview, read: ReadTitles): Promise<void> => {
  const without = versionsOf(overview)
    .filter(({ title }) => !title)
    .slice(0, MOST_TITLES);
  for (const uid of new Set(without.map(({ contentType }) => contentType))) {
    const rows = without.filter(({ contentType }) => contentType === uid);
    const ids = [...new Set(rows.map(({ documentId }) => documentId))];
    const titles = new Map<string, string>();
    for (let at = 0; at < ids.length; at += MOST_AT_ONCE) {
      const found = await read(uid, ids.slice(at, at + MOST_AT_ONCE));
      for (const { documentId, locale, title } of found) titles.set(versionKey(documentId, locale), title);
    }
    for (const row of rows) {
      const { documentId, locale } = row;
      row.title = titles.get(versionKey(documentId, locale)) ?? titles.get(versionKey(documentId, null));
    }
  }
};
