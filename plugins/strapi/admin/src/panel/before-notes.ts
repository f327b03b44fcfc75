import type { Before, PathOwner } from '../../../shared/reports';
import { decoded } from '../decoded';
import type { TextId } from '../texts';

/** A sentence about what an action would do. */
export interface BeforeNote {
  text: TextId;
  values?: Record<string, string | number>;
  /** The entry that it is about; null: the admin may not read it. */
  owner?: PathOwner | null;
  /** An editor would rather not do it. */
  isWarning: boolean;
}

/** What publishing would do, beside the address of the draft, which names the owner of its path. */
export const publishNotes = ({ publish }: Before, hasLink: boolean): BeforeNote[] => {
  const { conflict, moves, dependents, redirects, gone, unpublished } = publish;
  const notes: BeforeNote[] = [];
  if (conflict && conflict.wins !== 'other') {
    const text = conflict.wins === 'this' ? 'before.takes' : 'before.unknown';
    notes.push({ text, owner: conflict.owner ?? null, isWarning: true });
  } else if (conflict && conflict.owner === undefined && conflict.page === undefined) {
    notes.push({ text: 'before.rule', isWarning: true });
  }
  if (unpublished.length && hasLink) {
    notes.push({ text: 'before.unpublished', values: { fields: unpublished.join(', ') }, isWarning: true });
  }
  if (moves) {
    const values = { from: decoded(moves.from), to: decoded(moves.to) };
    notes.push({
      text: moves.redirects ? 'before.moves' : 'before.moves.lost',
      values,
      isWarning: !moves.redirects,
    });
  }
  if (dependents.count) {
    const values = { count: dependents.count, more: String(dependents.more) };
    const text = redirects ? 'before.dependents' : 'before.dependents.lost';
    notes.push({ text, values, isWarning: !redirects });
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
  // A published page itself is no surprise when it is withdrawn.
  const own = isPublished ? 1 : 0;
  const notes: BeforeNote[] = [];
  const { gone, dependents } = unpublish;
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
