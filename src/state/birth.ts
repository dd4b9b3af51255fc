import { DamagedError, ErrandError } from '../errors.ts';
import { readSeal, sealOf } from './seal.ts';

/** What is known elsewhere of the journal: a file that is lost cannot say so itself. */
export interface Birth {
  /** When it was begun, ISO 8601. */
  readonly since: string | undefined;
  note(at: string): Promise<void>;
}

/** An empty journal is not taken for new where one was begun before. @throws DamagedError. */
export function checkBirth(file: string, birth: Birth | undefined): void {
  if (birth?.since !== undefined || readSeal(sealOf(file))) throw lostJournal(file, birth?.since);
}

/** Where it cannot be noted the journal is no worse than before. */
export async function noteBirth(birth: Birth | undefined, at: string): Promise<void> {
  if (!birth || birth.since !== undefined) return;
  await birth.note(at).catch((error: unknown) => {
    if (!(error instanceof ErrandError)) throw error;
  });
}

/** Where a journal stood an empty file stands now, or none. */
const lostJournal = (file: string, since: string | undefined): DamagedError =>
  new DamagedError(
    `${file} is empty or gone${since === undefined ? '' : `, and a journal was begun there at ${since}`}`,
    {
      hint: 'An earlier command may have placed an order. If you have a copy of the journal, restore it.',
      next: [
        { command: 'errand order list', when: 'to see what was ordered' },
        { command: 'errand order journal repair', when: 'to begin a new one' },
      ],
    },
  );
