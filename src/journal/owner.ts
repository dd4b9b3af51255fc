import { statOf } from '../platform/proc-stat.ts';
import type { JournalRecord } from './journal-record.ts';

/**
 * Identifies a process by pid and start time, so that a reused pid is not mistaken for the process. If the journal is
 * shared, identifies the process by its lease.
 */
export interface Owner {
  readonly pid: number;
  readonly started: string;
}

/** What a shared journal knows about the processes using it. */
export interface LeaseRegistry {
  isOwn(lease: string): boolean;
  isHeld(lease: string): boolean;
  /** The holder's machine; undefined if unknown. */
  hostOf(lease: string): string | undefined;
  /** Remaining time of the lease, ms. */
  heldMs(lease: string): number | undefined;
}

export const leasePrefix = 'lease:';

const registries = new Set<LeaseRegistry>();

/**
 * Registers a lease registry, so that owners can be resolved by lease.
 * @returns a function that unregisters it.
 */
export function registerLeases(registry: LeaseRegistry): () => void {
  registries.add(registry);
  return () => registries.delete(registry);
}

/**
 * This process as an owner.
 * @param lease is set if the journal is shared between machines.
 */
export const self = (lease?: string): Owner => ({
  pid: process.pid,
  started: lease ?? statOf(process.pid)?.started ?? '',
});

export const isSelf = ({ pid, started }: Owner): boolean =>
  started.startsWith(leasePrefix)
    ? [...registries].some((registry) => registry.isOwn(started))
    : pid === process.pid;

/** Owner of a record that no process works on, so that any process may take it over. No system assigns this pid. */
export const nobodyAtWork: Owner = { pid: 2 ** 31 - 1, started: '' };

/** Whether the owning process is still alive. */
export function isAlive({ pid, started }: Owner): boolean {
  if (started.startsWith(leasePrefix)) return [...registries].some((registry) => registry.isHeld(started));
  try {
    process.kill(pid, 0);
  } catch (error) {
    // The pid may since have been reused by another user's process.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const now = statOf(pid);
  // A zombie has ended, but its parent has not reaped it. In a container that may never happen.
  if (now?.state === 'Z') return false;
  return now === undefined || started === '' || now.started === started;
}

/** Describes an owner for messages. */
export function ownerText({ pid, started }: Owner): string {
  const hosts = [...registries]
    .map((registry) => registry.hostOf(started))
    .filter((host) => host !== undefined);
  return hosts[0] === undefined ? `process ${pid}` : `process ${pid} on ${hosts[0]}`;
}

/** Remaining lease of an owner that may already be gone, ms; undefined for an owner identified by pid. */
export const leaseMsOf = ({ started }: Owner): number | undefined =>
  [...registries].map((registry) => registry.heldMs(started)).find((left) => left !== undefined);

/** Describes the open records of this machine's own journal. @param records holds at least one record. */
export const ownOpenText = ({ length }: readonly JournalRecord[]): string =>
  `${length === 1 ? 'one order' : `${length} orders`} of this machine's own journal ${length === 1 ? 'is' : 'are'} in doubt or untold`;
