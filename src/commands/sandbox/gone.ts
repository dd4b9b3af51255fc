import { embeddedUrl } from '../../config/stored.ts';
import { countText } from '../../format/counts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { Context } from '../../run/context.ts';

/** A change that brings a sandbox back to an earlier state, and when. */
export interface Gone {
  /** Only what was recorded after this time is gone, ms since the epoch; without it all is. */
  readonly since?: number;
  /** When the change was asked for, ms since the epoch. */
  readonly until: number;
  /** What is said of each record: `the sandbox was emptied`. */
  readonly why: string;
  /** The file of the sandbox's data; null in memory. */
  readonly keptIn: string | null | undefined;
}

/**
 * Tells the journal that the sandbox in use no longer has what this machine ordered there. Only after the sandbox itself
 * has said that it is one. @returns lines about what was in doubt. @throws StorageError.
 */
export async function noteGone(context: Context, { since, until, why, keptIn }: Gone): Promise<string[]> {
  const { baseUrl, folders } = context.settings;
  if (!journalExists(context.settings)) return [];
  const journal = await context.journal();
  const sandbox = await import('../../sandbox-door.ts');
  // Served on the data of the embedded one, it is that one that went back too.
  const services = new Set([
    baseUrl.value,
    ...(keptIn === sandbox.fileOf(folders.state) ? [embeddedUrl] : []),
  ]);
  let inDoubt = 0;
  for (const service of services)
    inDoubt += await journal.undoing.undo({ service, since, until, message: why });
  if (inDoubt === 0) return [];
  return [
    inDoubt === 1
      ? `what was in doubt there is settled: ${why}, and has nothing of it`
      : `${countText(inDoubt)} in doubt there are settled: ${why}, and has nothing of them`,
  ];
}
