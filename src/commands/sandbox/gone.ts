import { embeddedUrl } from '../../config/stored.ts';
import { countText } from '../../format/counts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { Context } from '../../run/context.ts';

/** A change that returns a sandbox to an earlier state. */
export interface Gone {
  /** Only records made after this time are dropped, in ms since the epoch. If unset, all records are dropped. */
  readonly since?: number;
  /** When the change was requested, in ms since the epoch. */
  readonly until: number;
  /** Reason noted on each record: `the sandbox was emptied`. */
  readonly why: string;
  /** File that holds the sandbox's data; null if in memory. */
  readonly dataFile: string | null | undefined;
}

/**
 * Tells the journal that the current sandbox no longer has what this machine ordered there. Must be called only after
 * the service has proved to be a sandbox.
 * @returns lines about records that were in doubt.
 * @throws StorageError.
 */
export async function noteGone(context: Context, { since, until, why, dataFile }: Gone): Promise<string[]> {
  const { baseUrl, folders } = context.settings;
  if (!journalExists(context.settings)) return [];
  const journal = await context.journal();
  const sandbox = await import('../../sandbox-door.ts');
  // If the current sandbox serves the embedded sandbox's data, the change affects the embedded sandbox too.
  const services = new Set([
    baseUrl.value,
    ...(dataFile === sandbox.fileOf(folders.state) ? [embeddedUrl] : []),
  ]);
  let inDoubt = 0;
  for (const service of services)
    inDoubt += await journal.reverting.undo({ service, since, until, message: why });
  if (inDoubt === 0) return [];
  return [
    inDoubt === 1
      ? `what was in doubt there is settled: ${why}, and has nothing of it`
      : `${countText(inDoubt)} in doubt there are settled: ${why}, and has nothing of them`,
  ];
}
