import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { refill, refills, timeoutsIn } from '../../refill.ts';
import { runTranscript } from './session.ts';
import { unsetDeadlines } from './transcript.ts';

const here = new URL('./', import.meta.url);
const transcripts = readdirSync(here).filter((name) => name.endsWith('.transcript'));
const read = (name: string): string => readFileSync(new URL(name, here), 'utf8');
/** Replaces what is saved by what is printed now, to be read in the difference. */
const updates = refills('UPDATE_GOLDEN');

describe.concurrent('what every command prints, byte for byte', () => {
  test.for(transcripts)('%s', async (name, context) => {
    const { expect } = context;
    const kept = read(name);
    const printed = await runTranscript(kept);
    // A busy machine cut it off: that is not what the command prints.
    expect(printed).not.toMatch(/^\? null$/m);
    expect(timeoutsIn(printed)).toEqual([]);
    expect(unsetDeadlines(printed)).toEqual([]);
    // An unexpected error is a bug, whatever the transcript says of it.
    expect(printed).not.toMatch(/^\? 1$/m);
    if (updates) refill(context, new URL(name, here), printed);
    else expect(printed, 'UPDATE_GOLDEN=1 refills it; read the diff before you commit it').toBe(kept);
  });
});
