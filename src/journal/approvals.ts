import { sha256 } from '../format/canonical.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import {
  type Approval,
  type ApprovalRequest,
  type ApprovalState,
  approvalOf,
  approvalRow,
  isOfDatabase,
  signedText,
  writeApproval,
} from './approval-row.ts';
import type { AuditChain } from './audit.ts';
import { isSignedBy, recordOfRow } from './audit-record.ts';
import type { Tally } from './integrity.ts';
import type { Mac } from './mac.ts';

/** Retention of requests, in ms; the same as for reservations. */
const retentionMs = 400 * 24 * 3600 * 1000;

/** A use of an approval. */
export interface ApprovalUse {
  /** Idempotency key of the order. */
  readonly key: string;
  readonly orderId: string | undefined;
  /** Cents. */
  readonly cents: number;
}

/**
 * Approval requests and decisions, in the journal's database. The use of approvals is recorded with the reservations.
 */
export class Approvals {
  readonly #database: Database;
  readonly #audit: AuditChain;
  readonly #tally: Tally;
  readonly #now: () => number;

  constructor(database: Database, audit: AuditChain, tally: Tally, now: () => number) {
    this.#database = database;
    this.#audit = audit;
    this.#tally = tally;
    this.#now = now;
  }

  /**
   * Stores a request, unless an identical one is open.
   * @param isKeyMade tells whether the key was generated. If so, the order can use the key of the open request instead.
   * @returns the open request.
   * @throws StorageError.
   */
  request(request: ApprovalRequest, isKeyMade: boolean): Promise<ApprovalRequest> {
    return this.#database.transaction(() => {
      const same = this.withTerms(request.terms).find(
        (one) => this.#isSameQuestion(one, request) && (isKeyMade || one.request.key === request.key),
      );
      if (same) return same.request;
      this.#write({ request, ...undecided });
      const rules = request.rules.join(', ');
      this.#audit.append({
        kind: 'approval_asked',
        ...subjectOf(request),
        detail: { approval: request.id, subject: request.subject, terms: request.terms, rules },
      });
      const since = new Date(this.#now() - retentionMs).toISOString();
      this.#database.run('DELETE FROM approvals WHERE asked_at < ?', since);
      return request;
    });
  }

  /**
   * Records an approval. If the request came from elsewhere and is unknown here, also stores the request. Uses of the
   * approval that are already stored stay as they are.
   * @param by is the fingerprint of a key, or the terminal.
   * @param mac signs the approval's audit record if no approver signs the request.
   * @throws ErrandError conflict if another request has the same id; StorageError.
   */
  approve(request: ApprovalRequest, by: string, signature: string | undefined, mac?: Mac): Promise<Approval> {
    return this.#decide(request, { state: 'approved', decidedBy: by, signature }, mac);
  }

  /**
   * Whether the newest decision about a request in the audit chain approves exactly this request and is signed with
   * this key.
   */
  isProven(request: ApprovalRequest, mac: Mac): boolean {
    const last = this.#audit
      .ofKinds(['approved', 'denied'])
      .map(recordOfRow)
      .filter(({ detail }) => Object(detail).approval === request.id)
      .at(-1);
    return (
      last?.kind === 'approved' &&
      Object(last.detail).request === sha256(signedText(request)) &&
      isSignedBy(last, mac)
    );
  }

  /** @throws StorageError. */
  deny(request: ApprovalRequest, by: string): Promise<Approval> {
    return this.#decide(request, { state: 'denied', decidedBy: by, signature: undefined });
  }

  /** Finds an approval by id or id prefix. @throws ErrandError not_found, UsageError. */
  get(id: string): Approval {
    const sql = `SELECT * FROM approvals WHERE id LIKE ? || '%' ESCAPE '\\' ORDER BY asked_at DESC LIMIT 2`;
    const [row, more] = this.#database.all(sql, id.toLowerCase().replace(/[\\%_]/g, '\\$&'));
    const next = [{ command: 'errand approval list --all', when: 'to see what was asked for' }];
    if (!row) throw new ErrandError('not_found', `there is no approval ${id}`, { next });
    if (more)
      throw new UsageError(`${id} is the beginning of several approvals; give the whole id`, { next });
    const approval = this.#read(row);
    if (approval) return approval;
    throw new ErrandError('conflict', `approval ${String(row.id)} ${alteredText}`, {
      code: 'approval_altered',
      outcome: 'not_sent',
      retryable: false,
      hint: 'Run the command that asked for it again: it asks anew.',
      next,
    });
  }

  /** Newest first. */
  list(): Approval[] {
    return this.#rows().flatMap((row) => this.#read(row) ?? []);
  }

  /**
   * Describes each approval in a shared journal that another program changed, wrote or copied into the journal. One
   * line per approval.
   */
  problems(): string[] {
    return this.#rows()
      .filter((row) => !this.#read(row))
      .map(({ id }) => `approval ${String(id)} ${alteredText}`);
  }

  /** Approvals with the same terms, newest first. */
  withTerms(terms: string): Approval[] {
    return this.#database
      .all('SELECT * FROM approvals WHERE terms = ? ORDER BY asked_at DESC, id', terms)
      .flatMap((row) => this.#read(row) ?? []);
  }

  /** Uses of an approval, oldest first. Excludes uses that certainly placed no order. */
  usesOf(id: string): ApprovalUse[] {
    return this.#database
      .all(
        `SELECT key, order_id, cents FROM reservations
         WHERE approval = ? AND (state <> 'released' OR order_id IS NOT NULL) ORDER BY at, key`,
        id,
      )
      .map((row) => ({
        key: String(row.key),
        orderId: row.order_id === null ? undefined : String(row.order_id),
        cents: Number(row.cents),
      }));
  }

  #decide(
    request: ApprovalRequest,
    decision: { state: Exclude<ApprovalState, 'open'>; decidedBy: string; signature: string | undefined },
    mac?: Mac,
  ): Promise<Approval> {
    return this.#database.transaction(() => {
      const known = this.#database.get('SELECT * FROM approvals WHERE id = ?', request.id);
      const before = known && this.#read(known);
      if (before && !isSameRequest(before.request, request))
        throw new ErrandError('conflict', `another request is known here as ${request.id}`, {
          outcome: 'not_sent',
        });
      if (before?.state === decision.state && before.signature === decision.signature) return before;
      const decided = { request, ...decision, decidedAt: new Date(this.#now()).toISOString() };
      this.#write(decided);
      const kind = decision.state === 'approved' ? 'approved' : 'denied';
      const detail = {
        ...{ approval: request.id, subject: request.subject, by: decision.decidedBy },
        ...(mac && { request: sha256(signedText(request)) }),
      };
      this.#audit.append({ kind, ...subjectOf(request), detail }, mac);
      return decided;
    });
  }

  /** Whether an open request has the same terms and the same total as the given request. */
  #isSameQuestion({ state, request: other }: Approval, request: ApprovalRequest): boolean {
    return (
      state === 'open' &&
      Date.parse(other.expires_at) > this.#now() &&
      other.total_cents === request.total_cents &&
      other.override === request.override &&
      other.rules.join() === request.rules.join()
    );
  }

  #write(approval: Approval): void {
    this.#database.run(writeApproval, ...approvalRow(approval));
  }

  #rows(): StoredRow[] {
    return this.#database.all('SELECT * FROM approvals ORDER BY asked_at DESC, id');
  }

  /**
   * Reads a row. Ignores a row of a shared journal that was altered, or copied from another journal: whoever can write
   * such a row could delete it just as well.
   * @throws DamagedError for an altered row of this machine's own journal.
   */
  #read(row: StoredRow): Approval | undefined {
    const approval = approvalOf(row);
    if (this.#database.id !== undefined)
      return approval && isOfDatabase(approval.request, this.#database.id) ? approval : undefined;
    if (approval) return approval;
    throw this.#tally.damaged(`approval ${String(row.id)} ${alteredText}`);
  }
}

const alteredText =
  'is not as errand wrote it for this journal: another program changed it, wrote it or copied it here. It counts for nothing';

const undecided = {
  state: 'open',
  decidedAt: undefined,
  decidedBy: undefined,
  signature: undefined,
} as const;

const isSameRequest = (one: ApprovalRequest, other: ApprovalRequest): boolean =>
  signedText(one) === signedText(other);

const subjectOf = ({ profile, service, key, total_cents: cents }: ApprovalRequest) => ({
  profile,
  service,
  ...(key !== null && { key }),
  cents,
});
