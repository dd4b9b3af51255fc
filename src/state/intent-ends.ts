import type { AuditChain } from './audit.ts';
import { failureEntry, paidEntry, stepEntry } from './audit-steps.ts';
import type { Grants, StoredGrant } from './grants.ts';
import { storable } from './hidden-text.ts';
import { type IntentRow, isIntact, ownerOf, recordOf, sealed } from './intent-row.ts';
import type { IntentTable } from './intent-table.ts';
import type { IntentState } from './journal-record.ts';
import { isSelf, nobodyAtWork } from './owner.ts';
import type { Reservations } from './reservations.ts';
import type { RunIntent } from './run-intents.ts';

/** Why nothing came of an intent. */
export interface RefusalReason {
  readonly code: string;
  readonly message: string;
}

/** How intents go on and end, each step with its record in the audit chain. Within transactions of the journal. */
export class IntentEnds {
  readonly #table: IntentTable;
  readonly #audit: AuditChain;
  readonly #grants: Grants;
  readonly #reservations: Reservations;
  readonly #now: () => number;

  constructor(
    table: IntentTable,
    audit: AuditChain,
    grants: Grants,
    reservations: Reservations,
    now: () => number,
  ) {
    this.#table = table;
    this.#audit = audit;
    this.#grants = grants;
    this.#reservations = reservations;
    this.#now = now;
  }

  respond(key: string, baseUrl: string, madeId: string, grant: StoredGrant | undefined): void {
    const row = this.#table.intact(key, baseUrl);
    if (grant) this.#grants.write(madeId, baseUrl, grant);
    this.#reservations.made(row, madeId);
    if (row.state === ('reported' satisfies IntentState) && row.order_id === madeId) return;
    if (row.order_id !== madeId) this.#audit.append(stepEntry('responded', row, madeId));
    this.#change(row, { state: 'responded', order_id: madeId, code: null, message: null, live: 2 });
  }

  report(intents: readonly RunIntent[]): void {
    for (const { key, baseUrl } of intents) {
      const row = this.#table.intact(key, baseUrl);
      if (row.state === ('responded' satisfies IntentState))
        this.#change(row, { state: 'reported', settled_at: row.settled_at, live: 1 });
    }
  }

  keepCredential(key: string, baseUrl: string, credential: string): void {
    const row = this.#table.intact(key, baseUrl);
    const { payment } = recordOf(row);
    if (payment) this.#audit.append(paidEntry(row, payment));
    this.#table.write(sealed({ ...row, credential }), row);
  }

  refuse(key: string, baseUrl: string, reason: RefusalReason): void {
    const row = this.#table.intact(key, baseUrl);
    if (row.state !== ('intended' satisfies IntentState)) return;
    this.#audit.append(failureEntry('refused', row, reason.code));
    const [code, message] = [storable(reason.code), storable(reason.message)];
    this.#change(row, { state: 'refused', live: 0, code, message });
    this.#reservations.giveBack(row);
  }

  leaveInDoubt(key: string, baseUrl: string, code: string): void {
    this.#audit.append(failureEntry('in_doubt', this.#table.intact(key, baseUrl), code));
  }

  forget(key: string, baseUrl: string): void {
    const row = this.#table.find(key, baseUrl);
    if (!row || (isIntact(row) && row.state !== ('intended' satisfies IntentState))) return;
    this.#audit.append(stepEntry('given_up', row));
    this.#change(row, { state: 'forgotten', live: 0 });
  }

  /** Another process may settle what this one has left in doubt; what another works on stays. */
  letGo(key: string, baseUrl: string): void {
    const row = this.#table.find(key, baseUrl);
    if (!row || !isIntact(row) || !isSelf(ownerOf(row)) || row.live !== 2) return;
    const { pid, started } = nobodyAtWork;
    this.#table.write(sealed({ ...row, pid, process_started: started }), row);
  }

  #change(row: IntentRow, change: RowChange): void {
    const settled = { ...row, settled_at: new Date(this.#now()).toISOString(), credential: null, ...change };
    this.#table.write(sealed(settled), row);
  }
}

type RowChange = Partial<IntentRow> & { readonly state: IntentState };
