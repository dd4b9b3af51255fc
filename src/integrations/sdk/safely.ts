/** `errand/safely`: orders placed by a program, one for each key, whatever happens in between. */

export { InDoubtError, InterruptedError, ServiceError, ValidationError } from '../../http/errors.ts';
export { DamagedError, ErrandError, StorageError, UsageError } from '../../platform/errors.ts';
export type { Finding, Verdict, VerdictOutcome } from '../../spending/policy/policy.ts';
export { type JournalOptions, type OrderJournal, openJournal, type UnsettledOrder } from './journal.ts';
export { type KeyedOrder, type PlacedOrder, type PlaceOptions, placeOrder, resumeOrder } from './place.ts';
export { PolicyError } from './policy-error.ts';
