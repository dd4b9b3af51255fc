/** `errand`: a typed client of the service. */

export {
  DeadlineError,
  InDoubtError,
  InterruptedError,
  MissingKeyError,
  PaymentRequiredError,
  ServiceError,
  UnavailableError,
  UnpaidOrderError,
  ValidationError,
} from '../../http/errors.ts';
export type { PaymentChallenge } from '../../http/payment-challenge.ts';
export type { FetchLike } from '../../http/transport/fetch.ts';
export {
  DamagedError,
  ErrandError,
  type ErrorCategory,
  type ErrorFacts,
  type NextStep,
  type Outcome,
  StorageError,
  UsageError,
} from '../../platform/errors.ts';
export { createClient } from './client.ts';
export type {
  CallInput,
  CallOptions,
  Client,
  ClientOptions,
  ListPage,
  RowOf,
  ServiceResponse,
  StreamedResponse,
} from './client-types.ts';
export {
  type CallName,
  type JsonSchema,
  type ListName,
  type OperationDescription,
  type OperationName,
  operations,
  type ParameterDescription,
  type StreamName,
  schemaOf,
} from './operations.ts';
export type * from './wire.ts';
export type { OrderResponse as Order } from './wire.ts';
