/** `errand/safely`: places orders from a program, exactly one per key, even across crashes. */

export { InDoubtError, InterruptedError, ServiceError, ValidationError } from '../../http/errors.ts';
export { DamagedError, ErrandError, StorageError, UsageError } from '../../platform/errors.ts';
export type { Finding, Verdict, VerdictOutcome } from '../../spending/policy/policy.ts';
export { type JournalOptions, type OrderJournal, openJournal, type UnsettledOrder } from './journal.ts';
export { type KeyedOrder, type PlacedOrder, type PlaceOptions, placeOrder, resumeOrder } from './place.ts';
export { PolicyError } from './policy-error.ts';
