import type { JournalRecord } from '../state/journal-record.ts';

/** What earlier commands have left open, in a line; undefined where nothing. */
export function owedLine({
  inDoubt,
  unreported,
}: {
  readonly inDoubt: readonly JournalRecord[];
  readonly unreported: readonly JournalRecord[];
}): string | undefined {
  const open = counted(inDoubt.length, 'is in doubt', 'are in doubt');
  const placed = counted(
    unreported.length,
    'was placed and never reported',
    'were placed and never reported',
  );
  const what = [open, placed].filter((part) => part !== '').join(', ');
  return what === '' ? undefined : `${what}; errand order journal resume --all settles that`;
}

function counted(count: number, one: string, more: string): string {
  if (count === 0) return '';
  return count === 1 ? `one order ${one}` : `${count} orders ${more}`;
}
