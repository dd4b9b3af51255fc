import type { ReturnStatus } from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';

export type ReturnBody = Shape<'ReturnRequestCreate'>;
export type ReturnRecord = Shape<'ReturnRequest'>;

/** One change of a return, whole but for the time, so that it can be moved in time without being rebuilt. */
export interface ReturnChange {
  /** ms since the epoch. */
  readonly at: number;
  readonly status: ReturnStatus;
  readonly resolution_notes?: string;
  readonly merchant_return_id?: string;
  readonly labels?: number;
  /** Cents into the wallet; negative where an earlier credit is taken back. */
  readonly credit?: number;
}

/** What is still to come, soonest first. */
export type ReturnPlan = readonly ReturnChange[];

export interface ReturnState {
  /** As it is shown, but for the links of its labels: those are made anew at each read. */
  readonly record: ReturnRecord;
  readonly plan: ReturnPlan;
  /** How many labels it has. */
  readonly labels: number;
}

/** One change that happened: the record right after it, and the money that it moved. */
export interface ReturnStep {
  /** ms since the epoch. */
  readonly at: number;
  readonly record: ReturnRecord;
  /** Cents into the wallet; negative where an earlier credit was taken back. */
  readonly credit: number;
}

export interface AdvancedReturn extends ReturnState {
  readonly steps: readonly ReturnStep[];
}
