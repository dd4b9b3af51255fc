import type { OutputFormat, OutputOptions } from '../../format/result.ts';
import { systemClock } from '../../platform/clock.ts';

interface Chosen {
  readonly output: { readonly value: OutputFormat; readonly from: string };
  readonly utc: boolean;
}

/**
 * Resolves how a run presents its result. @param serviceClock tells the service's time, in ms since the epoch. @param
 * defaultFormat is the command's own default. @throws UsageError for an unparsable query.
 */
export async function outputOptions(
  globals: Readonly<Record<string, unknown>>,
  { output, utc }: Chosen,
  serviceClock: { now(): number },
  defaultFormat: OutputFormat = output.value,
): Promise<OutputOptions> {
  const query = typeof globals.query === 'string' ? globals.query : undefined;
  if (query !== undefined) await (await import('./render.ts')).checkQuery(query);
  return {
    format: output.from === 'default' ? defaultFormat : output.value,
    fields: Array.isArray(globals.fields) ? globals.fields.map(String) : undefined,
    query,
    utc,
    rawCsv: globals.rawCsv === true,
    excel: globals.excel === true,
    now: () => serviceClock.now(),
    localNow: systemClock.now,
  };
}
