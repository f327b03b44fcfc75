import type { Before, MovedPage, PathOwner } from '../../../shared/reports';
import { decoded } from '../decoded';
import type { TextId } from '../texts';

/** A sentence about what an action would do. */
export interface BeforeNote {
  text: TextId;
  values?: Record<string, string | number>;
  /** The entry that it is about; null: the admin may not read it. */
  owner?: PathOwner | null;
  /** The first of the pages that it counts. */
  moving?: MovedPage[];
  /** An editor would rather not do it. */
  isWarning: boolean;
}

/** What publishing would do, beside the address of the draft, which names the owner of its path. */
export const publishNotes = ({ publish, moving }: Before, hasLink: boolean): BeforeNote[] => {
  const { conflict, redirect, moves, dependents, redirects, gone, unpublished } = publish;
  const notes: BeforeNote[] = [];
  if (conflict && conflict.wins !== 'other') {
    const text = conflict.wins === 'this' ? 'before.takes' : 'before.unknown';
    notes.push({ text, owner: conflict.owner ?? null, isWarning: true });
  } else if (conflict && conflict.owner === undefined && conflict.page === undefined) {
    notes.push({ text: 'before.rule', isWarning: true });
  }
  if (redirect?.force) {
    notes.push({ text: 'before.hidden', isWarning: true });
  } else if (redirect && hasLink && conflict?.wins !== 'other') {
    notes.push({ text: 'before.shadows', isWarning: false });
  }
  if (unpublished.length && hasLink) {
    notes.push({ text: 'before.unpublished', values: { fields: unpublished.join(', ') }, isWarning: true });
  }
  if (moves) {
    const values = { from: decoded(moves.from), to: decoded(moves.to) };
    const otherwise = moves.redirect ? 'before.moves.redirect' : 'before.moves.lost';
    const text = moves.redirects ? 'before.moves' : otherwise;
    notes.push({ text, values, isWarning: !moves.redirects });
  }
  if (dependents.count) {
    const values = { count: dependents.count, more: String(dependents.more) };
    const text = redirects ? 'before.dependents' : 'before.dependents.lost';
    notes.push({ text, values, moving, isWarning: !redirects });
  } else if (dependents.more) {
    notes.push({ text: 'before.more', isWarning: false });
  }
  if (gone.count) {
    notes.push({
      text: 'before.gone',
      values: { count: gone.count, more: String(gone.more) },
      isWarning: true,
    });
  }
  return notes;
};

/** What unpublishing and deleting would do to other pages. */
export const withdrawNotes = ({ isPublished, unpublish, delete: deleted }: Before): BeforeNote[] => {
  const { gone, dependents, redirect } = unpublish;
  const target = isPublished ? (redirect?.to ?? null) : null;
  // A published page itself is no surprise when it is withdrawn.
  const own = isPublished && target === null ? 1 : 0;
  const notes: BeforeNote[] = [];
  if (target !== null) {
    notes.push({ text: 'before.withdraw.redirect', values: { to: decoded(target) }, isWarning: false });
  }
  if (gone.count > own) {
    const values = { count: gone.count, more: String(gone.more) };
    notes.push({ text: 'before.unpublish', values, isWarning: true });
  }
  if (dependents.count) {
    const values = { count: dependents.count, more: String(dependents.more) };
    notes.push({ text: 'before.unpublish.moves', values, isWarning: true });
  }
  if (deleted.gone.count > Math.max(gone.count, own)) {
    const values = { count: deleted.gone.count, more: String(deleted.gone.more) };
    notes.push({ text: 'before.delete', values, isWarning: true });
  }
  return notes;
};
