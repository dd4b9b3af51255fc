import { printResult } from '../../src/cli/output/render.ts';
import { processIo } from '../../src/platform/streams.ts';

/** A program that prints records until nobody reads them. */
async function* endless(): AsyncGenerator<{ id: number }> {
  for (let id = 0; ; id += 1) yield { id };
}

process.exitCode = await printResult({ kind: 'list', rows: endless(), columns: [] }, processIo(process), {
  format: 'ndjson',
  now: () => 0,
});
