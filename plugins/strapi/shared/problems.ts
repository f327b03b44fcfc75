/** A version of a document that a problem is about. */
export interface ProblemVersion {
  contentType: string;
  documentId: string;
  locale: string;
  title?: string;
}

export type Problem =
  | ({ kind: 'no_url'; reason: string; rule?: string } & ProblemVersion)
  | { kind: 'shared_path'; path: string; owner: ProblemVersion; others: ProblemVersion[] };

export interface Problems {
  /** The number of rows that the admin may read. */
  count: number;
  truncated: boolean;
  problems: Problem[];
}

export interface DeadUrl {
  contentType: string;
  documentId: string;
  locale: string;
  url: string;
  status: number | null;
  reason?: string;
  since?: string;
}

/** The last run of URL checks of one content type. */
export interface CheckReport {
  contentType: string;
  /** Pages that were checked; null where the admin may not read all of them. */
  count: number | null;
  endedAt: string;
  truncated: boolean;
  dead: DeadUrl[];
}

/** A former path, and the URL that it redirects to. */
export interface Move {
  from: string;
  path: string;
  to: string | null;
  contentType: string;
  documentId: string;
  locale: string;
  since: string | null;
}

/** What the widget and the page of the plugin show. A part that failed is null. */
export interface Overview {
  problems: Problems;
  checks: CheckReport[];
  moves: Move[] | null;
}
