import { ErrandError, UsageError } from '../platform/errors.ts';
import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import {
  type Approval,
  type ApprovalRequest,
  type ApprovalState,
  approvalOf,
  approvalRow,
  signedText,
  writeApproval,
} from './approval-row.ts';
import type { AuditChain } from './audit.ts';
import type { Tally } from './integrity.ts';

/** As long as reservations are kept, ms. */
const keptMs = 400 * 24 * 3600 * 1000;

/** What an approval was used for. */
export interface ApprovalUse {
  /** The idempotency key of the order. */
  readonly key: string;
  readonly orderId: string | undefined;
  /** Cents. */
  readonly cents: number;
}

/** What was asked for and what was decided, in the journal's database. What used an approval is in the reservations. */
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
   * Keeps a request, unless the same is open already. @param isKeyMade nobody chose its key, so that the order can be sent with
   * that of the open one. @returns the one that is open now. @throws StorageError.
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
      const since = new Date(this.#now() - keptMs).toISOString();
      this.#database.run('DELETE FROM approvals WHERE asked_at < ?', since);
      return request;
    });
  }

  /**
   * Writes down that a request was approved. One that came from elsewhere and is not known here is kept with it; what it
   * was used for before stays. @param by the fingerprint of a key, or the terminal.
   * @throws ErrandError conflict where another request has its id; StorageError.
   */
  approve(request: ApprovalRequest, by: string, signature: string | undefined): Promise<Approval> {
    return this.#decide(request, { state: 'approved', decidedBy: by, signature });
  }

  /** @throws StorageError. */
  deny(request: ApprovalRequest, by: string): Promise<Approval> {
    return this.#decide(request, { state: 'denied', decidedBy: by, signature: undefined });
  }

  /** The one of an id, or of the beginning of one. @throws ErrandError not_found, UsageError. */
  get(id: string): Approval {
    const sql = `SELECT * FROM approvals WHERE id LIKE ? || '%' ESCAPE '\\' ORDER BY asked_at DESC LIMIT 2`;
    const [row, more] = this.#database.all(sql, id.toLowerCase().replace(/[\\%_]/g, '\\$&'));
    const next = [{ command: 'errand approval list --all', when: 'to see what was asked for' }];
    if (!row) throw new ErrandError('not_found', `there is no approval ${id}`, { next });
    if (more)
      throw new UsageError(`${id} is the beginning of several approvals; give the whole id`, { next });
    return this.#intact(row);
  }

  /** The newest first. */
  list(): Approval[] {
    return this.#database
      .all('SELECT * FROM approvals ORDER BY asked_at DESC, id')
      .map((row) => this.#intact(row));
  }

  /** Those for the same, the newest first. */
  withTerms(terms: string): Approval[] {
    return this.#database
      .all('SELECT * FROM approvals WHERE terms = ? ORDER BY asked_at DESC, id', terms)
      .map((row) => this.#intact(row));
  }

  /** What an approval was used for, the first first. What surely came to nothing is none. */
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
  ): Promise<Approval> {
    return this.#database.transaction(() => {
      const known = this.#database.get('SELECT * FROM approvals WHERE id = ?', request.id);
      const before = known && this.#intact(known);
      if (before && !isSameRequest(before.request, request))
        throw new ErrandError('conflict', `another request is known here as ${request.id}`, {
          outcome: 'not_sent',
        });
      if (before?.state === decision.state && before.signature === decision.signature) return before;
      const decided = { request, ...decision, decidedAt: new Date(this.#now()).toISOString() };
      this.#write(decided);
      const kind = decision.state === 'approved' ? 'approved' : 'denied';
      const detail = { approval: request.id, subject: request.subject, by: decision.decidedBy };
      this.#audit.append({ kind, ...subjectOf(request), detail });
      return decided;
    });
  }

  /** Whether a request that nobody has decided on asks for the very same, for as much. */
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

  #intact(row: StoredRow): Approval {
    const approval = approvalOf(row);
    if (approval) return approval;
    throw this.#tally.damaged(`the approval ${String(row.id)} was changed`);
  }
}

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
