import { isObject, jsonIn, own, textIn } from '../api/json.ts';
import { canonicalJson, sha256 } from '../format/canonical.ts';
import { ErrandError } from '../platform/errors.ts';
import type { Database } from '../platform/sqlite/database.ts';
import type { AuditChain } from './audit.ts';
import { recordOfRow } from './audit-record.ts';
import { readFact, writeFact } from './journal-facts.ts';

/** A policy that applies to all machines that share a journal. The signature covers the whole policy. */
export interface PublishedPolicy {
  /** Text of the policy file. */
  readonly text: string;
  /** Public keys of the approvers, by the file names under which the policy text refers to them. */
  readonly keys: Readonly<Record<string, string>>;
  readonly timeZone: string;
  /** User and host of the person who published the policy. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
  /** Identity of the database in which the policy was published. */
  readonly database: string;
  /** Number of the publication. Each publication in that database has a higher number than the one before. */
  readonly number: number;
}

/** What is stored as the published policy. Anyone who has the role of the database may have written it. */
export type StoredPolicy = { readonly stored: string } & (
  | {
      readonly kind: 'signed';
      readonly policy: PublishedPolicy;
      readonly signature: string;
      /** The signed text, including fields that this version does not know. */
      readonly text: string;
    }
  | { readonly kind: 'unsigned'; readonly by: string; readonly at: string }
  | { readonly kind: 'damaged' }
);

/** The last publication that the audit chain knows of. Fields that errand did not write are undefined. */
export interface LastPublication {
  /** SHA-256 of the policy text. */
  readonly policy: string | undefined;
  readonly number: number | undefined;
  /** Fingerprint of the publisher's key. */
  readonly signer: string | undefined;
}

/**
 * The policies stored in a journal. When a process records an intent, the policy that it has verified must still be the
 * current one.
 */
export class PublishedPolicies {
  readonly #database: Database;
  readonly #audit: AuditChain;
  #followed: { readonly stored: string | undefined } | undefined;

  constructor(database: Database, audit: AuditChain) {
    this.#database = database;
    this.#audit = audit;
  }

  /** Identity of the shared database; empty for the journal of a single machine. */
  get databaseId(): string {
    return this.#database.id ?? '';
  }

  /** The current policy, not verified; undefined if there is no policy. */
  stored(): StoredPolicy | undefined {
    const stored = readFact(this.#database, 'policy');
    return stored === undefined ? undefined : storedPolicy(stored);
  }

  lastPublication(): LastPublication | undefined {
    const row = this.#audit.last('policy_published');
    if (!row) return undefined;
    const { detail } = recordOfRow(row);
    const number = own(detail, 'number');
    return {
      policy: textIn(detail, 'policy'),
      number: typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined,
      signer: textIn(detail, 'signer'),
    };
  }

  /**
   * Remembers the policy that this process has verified and follows.
   * @param stored is the stored text of the policy.
   */
  follow(stored: string | undefined): void {
    this.#followed = { stored };
  }

  /**
   * Makes a signed policy the current one.
   * @param replaces is the stored text that was current when the policy got its number.
   * @throws ErrandError conflict if another policy has become current since then; StorageError.
   */
  publish(
    policy: PublishedPolicy,
    { signature, signer }: { readonly signature: string; readonly signer: string },
    replaces: string | undefined,
  ): Promise<void> {
    return this.#database.transaction(() => {
      if (readFact(this.#database, 'policy') !== replaces) throw overtaken();
      const before = replaces === undefined ? undefined : storedPolicy(replaces);
      writeFact(this.#database, 'policy', withChecksum(JSON.stringify({ ...versioned(policy), signature })));
      const hashes = {
        policy: sha256(policy.text),
        before: before?.kind === 'signed' ? sha256(before.policy.text) : null,
      };
      const { timeZone: time_zone, number } = policy;
      this.#audit.append({ kind: 'policy_published', detail: { ...hashes, time_zone, number, signer } });
    });
  }

  /**
   * Checks that the policy this process follows is still current. Call within a transaction. @throws ErrandError
   * policy.
   */
  checkCurrent(): void {
    if (!this.#followed || this.#followed.stored === readFact(this.#database, 'policy')) return;
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

/** The text that the publisher signs. */
export const policyText = (policy: PublishedPolicy): string => textOf(versioned(policy));

const versioned = (policy: PublishedPolicy) => ({ errand_policy: 1, ...policy });
const textOf = (fields: Readonly<Record<string, unknown>>): string => `${canonicalJson(fields)}\n`;

function storedPolicy(stored: string): StoredPolicy {
  const json = stored.slice(stored.indexOf(' ') + 1);
  const value = stored === withChecksum(json) ? jsonIn(json) : undefined;
  const [by, at, signature] = ['by', 'at', 'signature'].map((name) => textIn(value, name));
  if (!isObject(value) || by === undefined || at === undefined) return { stored, kind: 'damaged' };
  if (signature === undefined) return { stored, kind: 'unsigned', by, at };
  const [text, timeZone, database] = ['text', 'timeZone', 'database'].map((name) => textIn(value, name));
  const [keys, number] = [own(value, 'keys'), own(value, 'number')];
  if (text === undefined || timeZone === undefined || database === undefined || !areTexts(keys))
    return { stored, kind: 'damaged' };
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) return { stored, kind: 'damaged' };
  const policy = { text, keys, timeZone, by, at, database, number };
  const { signature: _, ...signed } = value;
  return { stored, kind: 'signed', policy, signature, text: textOf(signed) };
}

const areTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((text) => typeof text === 'string');

/** Adds a checksum. With it, errand can distinguish a damaged policy from a policy with an invalid signature. */
const withChecksum = (text: string): string => `${sha256(text)} ${text}`;

const overtaken = (): ErrandError =>
  new ErrandError('conflict', 'another policy was published meanwhile; nothing was published', {
    code: 'policy_changed',
    outcome: 'not_sent',
    retryable: false,
    next: [{ command: 'errand policy show', when: 'to see what it says, before you publish yours again' }],
  });
