import type { AttemptTable } from './attempt-table.ts';
import type { AuditChain } from './audit.ts';
import { failureEntry, paidEntry, stepEntry } from './audit.ts';
import type { Grants, StoredGrant } from './grants.ts';
import { storable } from './integrity.ts';
import { type IntentRow, isIntact, ownerOf, recordOf, withChecksum } from './intent-row.ts';
import type { IntentTable, RunIntent } from './intents.ts';
import type { Intent, IntentState, RejectionReason, Signer } from './journal-record.ts';
import { isSelf, nobodyAtWork } from './owner.ts';
import type { Missed } from './postgres/spool.ts';
import { takenOver } from './record-result.ts';
import type { Reservations } from './reservations.ts';

/** Components needed to record how an intent ended. */
interface EndParts {
  readonly table: IntentTable;
  readonly audit: AuditChain;
  readonly grants: Grants;
  readonly reservations: Reservations;
  /** Undefined for a shared journal, because the attempts of a shared journal are not in this database. */
  readonly attempts: AttemptTable | undefined;
}

/** State transitions of intents, each with its audit record. Use within transactions of the journal. */
export class IntentEnds {
  readonly #table: IntentTable;
  readonly #audit: AuditChain;
  readonly #grants: Grants;
  readonly #reservations: Reservations;
  readonly #attempts: AttemptTable | undefined;
  readonly #now: () => number;

  constructor({ table, audit, grants, reservations, attempts }: EndParts, now: () => number) {
    this.#table = table;
    this.#audit = audit;
    this.#grants = grants;
    this.#reservations = reservations;
    this.#attempts = attempts;
    this.#now = now;
  }

  /**
   * @param made holds the grant of a paid order, and the time when the order was made (by the service's clock, in ms
   * since the epoch).
   * @returns the id that the journal already has if it differs from `madeId`, in which case the journal's id stays;
   * undefined otherwise.
   */
  respond(
    key: string,
    baseUrl: string,
    madeId: string,
    {
      grant,
      madeAt,
      signer,
    }: Signed & { readonly grant?: StoredGrant | undefined; readonly madeAt?: number | undefined },
  ): string | undefined {
    const row = this.#table.intact(key, baseUrl);
    if (grant) this.#grants.write(madeId, baseUrl, grant);
    if (row.order_id !== madeId) this.#audit.appendSigned(stepEntry('responded', row, madeId), signer);
    if (row.order_id !== null && row.order_id !== madeId) return String(row.order_id);
    this.#reservations.made(row, madeId);
    this.#attempts?.follow(baseUrl, key, { state: 'placed', orderId: madeId, madeAt });
    if (row.state === ('reported' satisfies IntentState)) return undefined;
    this.#change(row, { state: 'responded', order_id: madeId, code: null, message: null, live: 2 });
    return undefined;
  }

  /**
   * Applies a result that has not reached the database so far. Idempotent.
   * @returns `unknown` if there is no matching record, or both ids if the service reports another id than the journal
   * has.
   */
  bringIn(
    missed: Missed,
    signer: Signer | undefined,
  ): 'done' | 'unknown' | { readonly known: string; readonly madeId: string } {
    const { key, baseUrl } = missed;
    const row = this.#table.find(key, baseUrl);
    if (missed.kind === 'ended') {
      const isAsItWas =
        row?.created_at === missed.since && row.pid === missed.pid && row.process_started === missed.started;
      if (isAsItWas && isIntact(row)) this.#refuse(row, missed, signer);
      return 'done';
    }
    if (!row || !isIntact(row)) return 'unknown';
    const { madeId, grant, isReported } = missed;
    const known = this.respond(key, baseUrl, madeId, { grant, signer });
    if (known !== undefined) return { known, madeId };
    if (isReported) this.report([{ key, baseUrl }]);
    return 'done';
  }

  report(intents: readonly Pick<RunIntent, 'key' | 'baseUrl'>[]): void {
    for (const { key, baseUrl } of intents) {
      const row = this.#table.intact(key, baseUrl);
      if (row.state === ('responded' satisfies IntentState))
        this.#change(row, { state: 'reported', settled_at: row.settled_at, live: 1 });
    }
  }

  /** @throws ErrandError conflict if another process has taken over the intent. */
  saveCredential(key: string, baseUrl: string, credential: string): void {
    const row = this.#table.intact(key, baseUrl);
    if (!this.#isOwn(row)) throw takenOver(key);
    const { payment } = recordOf(row);
    if (payment) this.#audit.append(paidEntry(row, payment));
    this.#table.write(withChecksum({ ...row, credential }), row);
  }

  refuse(
    key: string,
    baseUrl: string,
    reason: RejectionReason,
    signer: Signer | undefined,
  ): 'booked' | 'taken' {
    const row = this.#table.intact(key, baseUrl);
    if (row.state === ('refused' satisfies IntentState)) return 'booked';
    if (!this.#isOwn(row)) return 'taken';
    this.#refuse(row, reason, signer);
    return 'booked';
  }

  /** Whether an intent is in doubt and this process still owns it. */
  isOwn(key: string, baseUrl: string): boolean {
    return this.#isOwn(this.#table.intact(key, baseUrl));
  }

  #isOwn = (row: IntentRow): boolean =>
    row.state === ('intended' satisfies IntentState) && isSelf(ownerOf(row));

  #refuse(row: IntentRow, reason: RejectionReason, signer: Signer | undefined): void {
    if (row.state !== ('intended' satisfies IntentState)) return;
    this.#audit.appendSigned(failureEntry('refused', row, reason.code), signer);
    const [code, message] = [storable(reason.code), storable(reason.message)];
    this.#change(row, { state: 'refused', live: 0, code, message });
    this.#attempts?.follow(String(row.base_url), String(row.key), { state: 'failed' });
    this.#reservations.giveBack(row);
  }

  leaveInDoubt(key: string, baseUrl: string, code: string): void {
    const row = this.#table.intact(key, baseUrl);
    if (isSelf(ownerOf(row))) this.#audit.append(failureEntry('in_doubt', row, code));
  }

  forget(key: string, baseUrl: string, signer: Signer | undefined): void {
    const row = this.#table.find(key, baseUrl);
    if (!row || (isIntact(row) && row.state !== ('intended' satisfies IntentState))) return;
    this.#audit.appendSigned(stepEntry('given_up', row), signer);
    this.#change(row, { state: 'forgotten', live: 0 });
    this.#attempts?.follow(baseUrl, key, { state: 'unknown' });
  }

  /**
   * Records what the service shows about an intent whose end nothing proves.
   * @param madeId is undefined if the service has made nothing from the intent.
   */
  confirm(intent: ConfirmedIntent, madeId: string | undefined, signer: Signer): void {
    const { key, baseUrl, operation, profile } = intent;
    const subject = { profile, service: baseUrl, key, detail: { operation } };
    const entry =
      madeId === undefined
        ? { ...subject, kind: 'given_up' as const }
        : { ...subject, kind: 'responded' as const, orderId: madeId };
    this.#audit.appendSigned(entry, signer);
    const row = this.#table.find(key, baseUrl);
    if (!row || !isIntact(row) || row.order_id !== null || madeId === undefined) return;
    this.#reservations.made(row, madeId);
    this.#change(row, { state: 'reported', order_id: madeId, code: null, message: null, live: 1 });
  }

  /**
   * Releases a record that this process left in doubt, so that another process may settle it. Does nothing to the
   * records of other processes.
   */
  letGo(key: string, baseUrl: string): void {
    const row = this.#table.find(key, baseUrl);
    if (!row || !isIntact(row) || !isSelf(ownerOf(row)) || row.live !== 2) return;
    const { pid, started } = nobodyAtWork;
    this.#table.write(withChecksum({ ...row, pid, process_started: started }), row);
  }

  #change(row: IntentRow, change: RowChange): void {
    const settled = { ...row, settled_at: new Date(this.#now()).toISOString(), credential: null, ...change };
    this.#table.write(withChecksum(settled), row);
  }
}

interface Signed {
  readonly signer: Signer | undefined;
}

/** An intent to confirm, as the sender of the same request describes it. */
export type ConfirmedIntent = Pick<Intent, 'key' | 'baseUrl' | 'operation' | 'profile'>;

type RowChange = Partial<IntentRow> & { readonly state: IntentState };
