import { expect, test } from 'vitest';
import { CreationMarkerWriter } from '../../../src/journal/journal.ts';
import { StorageError } from '../../../src/platform/errors.ts';

/** A configuration that stores the note on the given attempt. */
function noting(takesAt: number) {
  let attempts = 0;
  const note = async (): Promise<void> => {
    attempts += 1;
    if (attempts < takesAt) throw new StorageError('the disk is full');
  };
  const birth = new CreationMarkerWriter({ since: undefined, note });
  return { birth, attempts: () => attempts };
}

test('that a journal is begun is noted once, however many intents are recorded', async () => {
  const { birth, attempts } = noting(1);
  await Promise.all([birth.note('2026-03-01T12:00:00Z'), birth.note('2026-03-01T12:00:01Z')]);
  await birth.note('2026-03-01T12:00:02Z');
  expect(attempts()).toBe(1);
});

test('where it could not be noted the next intent tries again', async () => {
  const { birth, attempts } = noting(2);
  for (let intent = 0; intent < 4; intent += 1) await birth.note('2026-03-01T12:00:00Z');
  expect(attempts()).toBe(2);
});
