import type { Overview, ProblemVersion } from '../../../shared/problems';
import type { Title } from '../content/titles';
import { versionKey } from './reports';

/** More rows than a page of problems shows at first. The rows after these show their document ids. */
const MAX_TITLES = 500;
/** Documents of one query. */
const BATCH = 100;

export type ReadTitles = (uid: string, documentIds: string[]) => Promise<Title[]>;

const versionsOf = ({ problems, checks }: Overview): ProblemVersion[] => [
  ...checks.flatMap(({ dead }) => dead),
  ...problems.problems.flatMap((one) => (one.kind === 'no_url' ? [one] : [one.owner, ...one.others])),
];

/** Adds the titles of Strapi to the first 500 rows that have none from the service. */
export const addTitles = async (overview: Overview, read: ReadTitles): Promise<void> => {
  const without = versionsOf(overview)
    .filter(({ title }) => !title)
    .slice(0, MAX_TITLES);
  for (const uid of new Set(without.map(({ contentType }) => contentType))) {
    const rows = without.filter(({ contentType }) => contentType === uid);
    const ids = [...new Set(rows.map(({ documentId }) => documentId))];
    const titles = new Map<string, string>();
    for (let at = 0; at < ids.length; at += BATCH) {
      const found = await read(uid, ids.slice(at, at + BATCH));
      for (const { documentId, locale, title } of found) titles.set(versionKey(documentId, locale), title);
    }
    for (const row of rows) {
      const { documentId, locale } = row;
      row.title = titles.get(versionKey(documentId, locale)) ?? titles.get(versionKey(documentId, null));
    }
  }
};
