import { statOf } from '../platform/proc-stat.ts';
import type { JournalRecord } from './journal-record.ts';

/**
 * Identifies a process. In a local journal: by pid and start time, so that a process with a reused pid is not mistaken
 * for the first one. In a shared journal: by the process's lease.
 */
export interface Owner {
  readonly pid: number;
  readonly started: string;
}

/** What a shared journal knows about the processes using it. */
export interface LeaseRegistry {
  isOwn(lease: string): boolean;
  isHeld(lease: string): boolean;
  /** The machine of the lease's holder; undefined if unknown. */
  hostOf(lease: string): string | undefined;
  /** Remaining time of the lease, in ms. */
  heldMs(lease: string): number | undefined;
}

export const leasePrefix = 'lease:';

const registries = new Set<LeaseRegistry>();

/**
 * Registers a lease registry, which resolves owners by their lease.
 * @returns a function that removes the registration.
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

/**
 * Owner of a record on which no process works, so that any process may take over the record. No system assigns this
 * pid.
 */
export const nobodyAtWork: Owner = { pid: 2 ** 31 - 1, started: '' };

/** Whether the owning process is still alive. */
export function isAlive({ pid, started }: Owner): boolean {
  if (started.startsWith(leasePrefix)) return [...registries].some((registry) => registry.isHeld(started));
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process may since have got the same pid.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const now = statOf(pid);
  // A zombie is a process that has ended but that its parent has not reaped. In a container, the parent may never reap
  // it.
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

/** Remaining lease, in ms, of an owner that may already have ended; undefined for an owner identified by pid. */
export const leaseMsOf = ({ started }: Owner): number | undefined =>
  [...registries].map((registry) => registry.heldMs(started)).find((left) => left !== undefined);

/** Describes the open records of this machine's own journal. @param records contains at least one record. */
export const ownOpenText = ({ length }: readonly JournalRecord[]): string =>
  `${length === 1 ? 'one order' : `${length} orders`} of this machine's own journal ${length === 1 ? 'is' : 'are'} in doubt or untold`;
