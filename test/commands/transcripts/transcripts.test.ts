import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { refill, refills, timeoutsIn } from '../../support/refill.ts';
import { runTranscript } from './session.ts';
import { unsetDeadlines } from './transcript.ts';

const here = new URL('./', import.meta.url);
const transcripts = readdirSync(here).filter((name) => name.endsWith('.transcript'));
const read = (name: string): string => readFileSync(new URL(name, here), 'utf8');
/** Replaces saved transcripts with the current output, for review as a diff. */
const updates = refills('UPDATE_GOLDEN');

describe.concurrent('what every command prints, byte for byte', () => {
  test.for(transcripts)('%s', async (name, context) => {
    const { expect } = context;
    const kept = read(name);
    const printed = await runTranscript(kept);
    // A killed process means the machine was too busy, so the output is not genuine.
    expect(printed).not.toMatch(/^\? null$/m);
    expect(timeoutsIn(printed)).toEqual([]);
    expect(unsetDeadlines(printed)).toEqual([]);
    // An unexpected error is a bug, even if the transcript contains it.
    expect(printed).not.toMatch(/^\? 1$/m);
    if (updates) refill(context, new URL(name, here), printed);
    else expect(printed, 'UPDATE_GOLDEN=1 refills it; read the diff before you commit it').toBe(kept);
  });
});
