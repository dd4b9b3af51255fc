import { printResult } from '../../../../src/cli/output/render.ts';
import { processIo } from '../../../../src/platform/streams.ts';

/** Prints records until its reader goes away. */
async function* endless(): AsyncGenerator<{ id: number }> {
  for (let id = 0; ; id += 1) yield { id };
}

process.exitCode = await printResult({ kind: 'list', rows: endless(), columns: [] }, processIo(process), {
  format: 'ndjson',
  now: () => 0,
});
