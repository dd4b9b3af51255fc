import { DamagedError, ErrandError } from '../platform/errors.ts';
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

/** Notes elsewhere that a journal is begun, once for a process. */
export class BirthNote {
  readonly #birth: Birth | undefined;
  #noted: Promise<void> | undefined;

  constructor(birth: Birth | undefined) {
    this.#birth = birth;
  }

  /** Where it cannot be noted the journal is no worse than before, and the next intent tries again. */
  note(at: string): Promise<void> {
    this.#noted ??= this.#note(at).catch((error: unknown) => {
      this.#noted = undefined;
      if (!(error instanceof ErrandError)) throw error;
    });
    return this.#noted;
  }

  async #note(at: string): Promise<void> {
    if (this.#birth && this.#birth.since === undefined) await this.#birth.note(at);
  }
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
