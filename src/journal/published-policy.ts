import { sha256 } from '../format/canonical.ts';
import { ErrandError } from '../platform/errors.ts';
import type { Database } from '../platform/sqlite/database.ts';
import type { AuditChain } from './audit.ts';
import type { Tally } from './integrity.ts';
import { readFact, writeFact } from './journal-facts.ts';

/** A policy that applies to all machines sharing a journal. */
export interface PublishedPolicy {
  /** Text of the policy file. */
  readonly text: string;
  /** Approvers' public keys, by the file names that the policy text uses for them. */
  readonly keys: Readonly<Record<string, string>>;
  readonly timeZone: string;
  /** User and host that published it. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * The policies stored in a journal. The policy that a process has read must still be current when it records an intent.
 */
export class PublishedPolicies {
  readonly #database: Database;
  readonly #tally: Tally;
  readonly #audit: AuditChain;
  readonly #now: () => number;
  #lastRead: { readonly fact: string | undefined } | undefined;

  constructor(database: Database, tally: Tally, audit: AuditChain, now: () => number) {
    this.#database = database;
    this.#tally = tally;
    this.#audit = audit;
    this.#now = now;
  }

  /** The current policy; undefined if none was published. @throws DamagedError. */
  current(): PublishedPolicy | undefined {
    const fact = readFact(this.#database, 'policy');
    this.#lastRead = { fact };
    return fact === undefined ? undefined : this.#read(fact);
  }

  /** Makes a policy current. @returns the previous one. @throws StorageError. */
  publish(policy: Omit<PublishedPolicy, 'at'>): Promise<PublishedPolicy | undefined> {
    return this.#database.transaction(() => {
      const fact = readFact(this.#database, 'policy');
      const before = fact === undefined ? undefined : this.#read(fact);
      const published = { ...policy, at: new Date(this.#now()).toISOString() };
      writeFact(this.#database, 'policy', withChecksum(JSON.stringify(published)));
      const hashes = { policy: sha256(policy.text), before: before ? sha256(before.text) : null };
      this.#audit.append({ kind: 'policy_published', detail: { ...hashes, time_zone: policy.timeZone } });
      return before;
    });
  }

  #read(fact: string): PublishedPolicy {
    const text = fact.slice(fact.indexOf(' ') + 1);
    if (fact === withChecksum(text)) return JSON.parse(text);
    throw this.#tally.damaged('the published policy is not what was written');
  }

  /**
   * Checks that the policy this process read is still current. Call within a transaction. @throws ErrandError policy.
   */
  checkCurrent(): void {
    if (!this.#lastRead || this.#lastRead.fact === readFact(this.#database, 'policy')) return;
    throw new ErrandError(
      'policy',
      'another policy was published while this command was at work; nothing more was sent',
      {
        code: 'policy_changed',
        outcome: 'not_sent',
        retryable: true,
        hint: 'Run the command again: it then follows the policy as it is now.',
        next: [{ command: 'errand policy show', when: 'to see what it says now' }],
      },
    );
  }
}

/** Adds a checksum, because a truncated policy could permit what the whole policy forbids. */
const withChecksum = (text: string): string => `${sha256(text)} ${text}`;
