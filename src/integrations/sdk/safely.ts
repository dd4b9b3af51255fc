/** `errand/safely`: places orders from a program. Each order is placed only once, even if the program crashes. */

export { InDoubtError, InterruptedError, ServiceError, ValidationError } from '../../http/errors.ts';
export { DamagedError, ErrandError, StorageError, UsageError } from '../../platform/errors.ts';
export type { Finding, Verdict, VerdictOutcome } from '../../spending/policy/policy.ts';
export { DuplicateError, type EarlierOrder, type OrderDifference } from './duplicate-error.ts';
export { type JournalOptions, type OrderJournal, openJournal, type UnsettledOrder } from './journal.ts';
export { type PlacedOrder, type PlaceOptions, placeOrder, type ResumeOptions, resumeOrder } from './place.ts';
export { PolicyError } from './policy-error.ts';
