/** `errand`: a typed client of the service. */

export type { ErrorCode } from '../../api/error-codes.ts';
export type { ErrorType } from '../../api/error-types.ts';
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
  AppInfo,
  CallInput,
  CallOptions,
  Client,
  ClientOptions,
  ListOptions,
  ListPage,
  RecordList,
  RequestAttempt,
  RequestSent,
  ResponseReceived,
  RetryPlanned,
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
export { OrderFailedError, type WaitOptions, waitFor } from './wait.ts';
export {
  type EnvelopeEventName,
  type EnvelopeWebhook,
  type OrderEventName,
  type OrderWebhook,
  parseWebhook,
  type Webhook,
  WebhookError,
  type WebhookOptions,
} from './webhook.ts';
export type * from './wire.ts';
export type { OrderResponse as Order } from './wire.ts';
