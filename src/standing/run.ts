import { hash } from 'node:crypto';
import type { Output } from '../api/outputs/index.ts';
import { embeddedUrl } from '../config/stored.ts';
import type { Context } from '../run/context.ts';
import { type EntryFile, readEntryFile } from './file.ts';
import { RunMemory } from './memory.ts';

export interface RunRequest {
  /** The file, if the user named one. */
  readonly standing?: string | undefined;
  /** Names of the only entries to run. If empty, all entries are run. */
  readonly names: readonly string[];
  /** End of the time that `--dry-run` plans, in ms since the epoch. */
  readonly until?: number | undefined;
}

export interface RunResult {
  readonly rows: readonly Output<'StandingDate'>[];
  readonly exitCode: number;
  /** Lines for people. */
  readonly hints: readonly string[];
}

/** What a run works with after it has read the file. */
export interface Running {
  readonly context: Context;
  readonly file: EntryFile;
  readonly memory: RunMemory;
  readonly sha256: string;
}

/**
 * Places the orders that are due. Reads only the file and this machine's memory if these show that no date can be due,
 * even if the clock is wrong by up to two days.
 * @throws ErrandError.
 */
export async function runStandingOrders(context: Context, request: RunRequest): Promise<RunResult> {
  const file = readEntryFile(context, request.standing);
  const sha256 = hash('sha256', file.bytes ?? Buffer.alloc(0), 'hex');
  const memory = new RunMemory(context);
  const running = { context, file, memory, sha256 };
  if (!context.previewsRequests && isIdle(running)) return { rows: [], exitCode: 0, hints: [] };
  const { placeDue } = await import('./place-due.ts');
  return placeDue(running, request);
}

/** Whether no date can be due. Always false for the embedded sandbox, because the user can advance its clock. */
function isIdle({ context, file: { path }, memory, sha256 }: Running): boolean {
  if (context.settings.baseUrl.value === embeddedUrl) return false;
  const idle = memory.idleOf(path);
  const now = context.clock.now();
  return idle?.sha256 === sha256 && now >= idle.from && now < idle.until;
}
