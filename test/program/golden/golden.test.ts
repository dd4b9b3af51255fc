import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { runTranscript } from './session.ts';

const here = new URL('./', import.meta.url);
const transcripts = readdirSync(here).filter((name) => name.endsWith('.transcript'));
/** Writes what is printed now over what is kept, to be read in the difference. */
const updates = process.env.UPDATE_GOLDEN === '1' && !process.env.CI;

describe.concurrent('what every command prints, byte for byte', () => {
  test.for(transcripts)('%s', { timeout: 240_000 }, async (name, { expect }) => {
    const file = new URL(name, here);
    const kept = readFileSync(file, 'utf8');
    const printed = await runTranscript(kept);
    // A step that a busy machine cut off prints no code; it is not what the command prints.
    expect(printed).not.toMatch(/^\? null$/m);
    // An unexpected error is a bug, whatever the transcript says of it.
    expect(printed).not.toMatch(/^\? 1$/m);
    if (updates) writeFileSync(file, printed);
    else expect(printed).toBe(kept);
  });
});
