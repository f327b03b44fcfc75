import type { Before, Conflict, Effect, MovedPage, Owner, Pages } from '../../../shared/reports';
import { isRecord, record, type Row } from '../service/records';

/** A conflict before it is known whether the admin may read the other document. */
type FoundConflict = Omit<Conflict, 'owner'> & { owner?: Owner };
type FoundEffect = Omit<Effect, 'conflict'> & { conflict: FoundConflict | null };
/** A page that moves along, before it is known whether the admin may read its entry. */
export type FoundMovedPage = MovedPage & Owner & Row;
export interface FoundBefore extends Pick<Before, 'isPublished'> {
  moving: FoundMovedPage[];
  publish: FoundEffect;
  unpublish: FoundEffect;
  delete: FoundEffect;
}

const pagesIn = (value: unknown): Pages => {
  const { count, more } = record(value);
  return { count: typeof count === 'number' ? count : 0, more: more === true };
};

const WINS: Conflict['wins'][] = ['this', 'other', 'unknown'];

const conflictIn = (value: unknown): FoundConflict | null => {
  if (!isRecord(value)) return null;
  const wins = WINS.find((own) => own === value.wins) ?? 'unknown';
  const { contentType, documentId, locale } = record(value.document);
  const isOwner = [contentType, documentId, locale].every((own) => typeof own === 'string');
  return {
    wins,
    ...(isOwner && { owner: { contentType, documentId, locale } as Owner }),
    ...(typeof value.page === 'string' && { page: value.page }),
  };
};

const redirectAt = (value: unknown): Effect['redirect'] => {
  if (!isRecord(value)) return null;
  const { to, force } = value;
  return { to: typeof to === 'string' ? to : null, force: force === true };
};

const movesIn = (value: unknown): Effect['moves'] => {
  const { from, to, redirects, redirect } = record(value);
  return typeof from === 'string' && typeof to === 'string'
    ? { from, to, redirects: redirects === true, redirect: isRecord(redirect) }
    : null;
};

/** The pages in `first` stand for all. */
const redirectIn = (group: unknown): boolean => {
  const { first } = record(group);
  return Array.isArray(first) && first.length > 0 && first.every((page) => record(page).redirects === true);
};

const movingIn = (group: unknown): FoundMovedPage[] => {
  const { first } = record(group);
  return (Array.isArray(first) ? first : []).flatMap((one) => {
    const { from, to, contentType, documentId, locale } = record(one);
    const page = { from, to, contentType, documentId, locale };
    return Object.values(page).every((value) => typeof value === 'string') ? [page as FoundMovedPage] : [];
  });
};

const fieldsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.map((own) => String(record(own).field)) : [];

const effectIn = (value: unknown): FoundEffect => {
  const { conflict, redirect, moves, dependents, gone, unpublished } = record(value);
  return {
    conflict: conflictIn(conflict),
    redirect: redirectAt(redirect),
    moves: movesIn(moves),
    dependents: pagesIn(dependents),
    redirects: redirectIn(dependents),
    gone: pagesIn(gone),
    unpublished: fieldsIn(unpublished),
  };
};

/** The part of one site. */
export const beforeIn = (site: Row): FoundBefore => ({
  isPublished: typeof site.path === 'string',
  moving: movingIn(record(site.publish).dependents),
  publish: effectIn(site.publish),
  unpublish: effectIn(site.unpublish),
  delete: effectIn(site.delete),
});
