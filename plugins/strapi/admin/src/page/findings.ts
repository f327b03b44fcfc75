import type { Overview, ProblemVersion } from '../../../shared/problems';
import { reasonText } from '../reasons';
import type { Text } from '../texts';

export const KINDS = ['dead', 'no_url', 'shared_path'] as const;
export type Kind = (typeof KINDS)[number];

/** One row of the problems table: a document that an editor can put right. */
export interface Finding {
  key: string;
  kind: Kind;
  version: ProblemVersion;
  /** The reason of `no_url`, the path of `shared_path`, the status or reason of a dead URL. */
  detail: string;
  /** The document that owns a shared path. */
  owner?: ProblemVersion;
}

/** All findings; of a path that several documents have, one row for each that does not own it. */
export const findingsOf = ({ problems, checks }: Overview): Finding[] => {
  const dead = checks.flatMap((check) =>
    check.dead.map((row) => ({
      key: `dead ${row.url}`,
      kind: 'dead' as const,
      version: row,
      detail: String(row.status ?? row.reason ?? ''),
    })),
  );
  const others = problems.problems.flatMap((problem): Finding[] =>
    problem.kind === 'no_url'
      ? [{ key: keyOf('no_url', problem), kind: 'no_url', version: problem, detail: problem.reason }]
      : problem.others.map((version) => ({
          key: keyOf(`shared ${problem.path}`, version),
          kind: 'shared_path',
          version,
          detail: problem.path,
          owner: problem.owner,
        })),
  );
  return [...dead, ...others];
};

const keyOf = (kind: string, { contentType, documentId, locale }: ProblemVersion): string =>
  [kind, contentType, documentId, locale].join(' ');

export const findingText = (text: Text, { kind, detail }: Finding): string => {
  if (kind === 'no_url') return reasonText(text, detail);
  return kind === 'dead' ? text('finding.dead', { detail }) : text('finding.shared', { path: detail });
};

export interface Filter {
  kind: Kind | '';
  contentType: string;
  locale: string;
}

export const filtered = (findings: Finding[], { kind, contentType, locale }: Filter): Finding[] =>
  findings.filter(
    (finding) =>
      (!kind || finding.kind === kind) &&
      (!contentType || finding.version.contentType === contentType) &&
      (!locale || finding.version.locale === locale),
  );
