import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, test } from 'vitest';
import { helpsOf } from './helps.ts';
import { runTranscript } from './session.ts';
import { type Printed, readTranscript } from './transcript.ts';

const here = new URL('./', import.meta.url);
const transcripts = readdirSync(here).filter((name) => name.endsWith('.transcript'));
const read = (name: string): string => readFileSync(new URL(name, here), 'utf8');
/** Writes what is printed now over what is kept, to be read in the difference. */
const updates = process.env.UPDATE_GOLDEN === '1' && !process.env.CI;

describe.concurrent('what every command prints, byte for byte', () => {
  let helps: ReadonlyMap<string, Printed>;
  beforeAll(async () => {
    const parts = transcripts.flatMap((name) => readTranscript(read(name)));
    helps = await helpsOf(parts.flatMap((part) => (part.kind === 'command' ? [part.line] : [])));
  }, 120_000);

  test.for(transcripts)('%s', { timeout: 240_000 }, async (name, { expect }) => {
    const kept = read(name);
    const printed = await runTranscript(kept, helps);
    // A step that a busy machine cut off prints no code; it is not what the command prints.
    expect(printed).not.toMatch(/^\? null$/m);
    // An unexpected error is a bug, whatever the transcript says of it.
    expect(printed).not.toMatch(/^\? 1$/m);
    if (updates) writeFileSync(new URL(name, here), printed);
    else expect(printed, 'UPDATE_GOLDEN=1 refills it; read the diff before you commit it').toBe(kept);
  });
});
