import { readFileSync } from 'node:fs';
import type { JournalRecord } from './journal-record.ts';

/** A process as its pid and when it started, so that a reused pid is not taken for it; or as its lease, where machines share a journal. */
export interface Owner {
  readonly pid: number;
  readonly started: string;
}

/** What a shared journal knows of the processes that work on it. */
export interface LeaseBook {
  isOwn(lease: string): boolean;
  isHeld(lease: string): boolean;
  /** The machine of whoever has it; undefined where that is not known. */
  hostOf(lease: string): string | undefined;
  /** How long it still holds, ms. */
  heldMs(lease: string): number | undefined;
}

export const leasePrefix = 'lease:';

const books = new Set<LeaseBook>();

/** From now on owners by lease are known. @returns what ends that. */
export function keepBook(book: LeaseBook): () => void {
  books.add(book);
  return () => books.delete(book);
}

/** This process. @param lease where machines share what it writes. */
export const self = (lease?: string): Owner => ({
  pid: process.pid,
  started: lease ?? statOf(process.pid)?.started ?? '',
});

/** Whether an owner is this process. */
export const isSelf = ({ pid, started }: Owner): boolean =>
  started.startsWith(leasePrefix) ? [...books].some((book) => book.isOwn(started)) : pid === process.pid;

/** No process: what it owns is free. No system gives that pid. */
export const nobodyAtWork: Owner = { pid: 2 ** 31 - 1, started: '' };

/** Whether the process that is named is still alive. */
export function isAlive({ pid, started }: Owner): boolean {
  if (started.startsWith(leasePrefix)) return [...books].some((book) => book.isHeld(started));
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process may have got the pid since.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const now = statOf(pid);
  // It has ended, and its parent has not noticed yet; in a container nobody may ever do.
  if (now?.state === 'Z') return false;
  return now === undefined || started === '' || now.started === started;
}

/** An owner in words. */
export function ownerText({ pid, started }: Owner): string {
  const hosts = [...books].map((book) => book.hostOf(started)).filter((host) => host !== undefined);
  return hosts[0] === undefined ? `process ${pid}` : `process ${pid} on ${hosts[0]}`;
}

/** How long an owner may still be at work though it is gone, ms; undefined where that shows by itself. */
export const leaseMsOf = ({ started }: Owner): number | undefined =>
  [...books].map((book) => book.heldMs(started)).find((left) => left !== undefined);

/** What the system says of a process (Linux): its state, a letter, and its start in clock ticks since boot. */
function statOf(pid: number): { readonly state: string; readonly started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/** What is open in the journal that a machine has of its own, in words. @param records at least one. */
export const ownOpenText = ({ length }: readonly JournalRecord[]): string =>
  `${length === 1 ? 'one order' : `${length} orders`} of this machine's own journal ${length === 1 ? 'is' : 'are'} in doubt or untold`;
