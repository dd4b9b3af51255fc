import {
  type envelopeEvents,
  webhookEventHeader,
  type webhookEventSynonyms,
  type webhookEvents,
  webhookSignatureHeader,
} from '../../api/events.ts';
import type { JsonObject } from '../../api/json.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { aText, aTime, checkOptions } from './checks.ts';
import type { OrderResponse } from './wire.ts';

/** Events whose body is the order itself. The header contains the name of the event. */
export type OrderEventName = keyof typeof webhookEvents | keyof typeof webhookEventSynonyms;
/** Events whose body is an envelope that contains the data. */
export type EnvelopeEventName = keyof typeof envelopeEvents;

interface AnyWebhook {
  /** Id of the order to which the event belongs. */
  readonly orderId: string | undefined;
  /** Whether the signature was verified. False if no `secret` was given. A wrong signature causes an error instead. */
  readonly isVerified: boolean;
}

/** An order, as the service sends it when it changes. */
export interface OrderWebhook extends AnyWebhook {
  readonly form: 'order';
  /**
   * Name of the event. Undefined if the request does not name it. The signature does not cover the name, so treat the
   * name only as a reason to read the order.
   */
  readonly event: OrderEventName | (string & {}) | undefined;
  readonly data: Partial<OrderResponse>;
}

/** An event in an envelope. */
export interface EnvelopeWebhook extends AnyWebhook {
  readonly form: 'envelope';
  readonly event: EnvelopeEventName | (string & {});
  /** When it was sent. */
  readonly sentAt: Date | undefined;
  /** Id of the return to which the event belongs. */
  readonly returnId: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

export type Webhook = OrderWebhook | EnvelopeWebhook;

export interface WebhookOptions {
  /** The secret of the registration. If it is given, an event without a valid signature is refused. */
  readonly secret?: string | undefined;
  /** Value of the header `X-Webhook-Signature`. Needed if only the body is given. */
  readonly signature?: string | undefined;
  /** Value of the header `X-Webhook-Event`. Needed if only the body is given. */
  readonly event?: string | undefined;
  /** How old an event in an envelope may be if there is a `secret`, ms; a week by default. */
  readonly maxAgeMs?: number | undefined;
}

/** The request is not a valid event of the service. Respond to it with a 4xx status. */
export class WebhookError extends ErrandError {
  override readonly name = 'WebhookError';

  constructor(code: 'unreadable' | 'signature_missing' | 'signature_wrong' | 'too_old', message: string) {
    super(code === 'unreadable' ? 'usage' : 'authentication', message, { code, retryable: false });
  }

  override get code():
    | 'unreadable'
    | 'signature_missing'
    | 'signature_wrong'
    | 'too_old'
    | (string & {})
    | undefined {
    return super.code;
  }
}

const maxBodyBytes = 1024 * 1024;

/**
 * Reads an event of the service and verifies its signature.
 * @param received a `Request`, or the raw body. A parsed body is not enough, because the signature covers the bytes.
 * @throws WebhookError if it is no event, or `secret` is given and the signature is not right or the event is old;
 * UsageError.
 */
export async function parseWebhook(
  received: Request | string | Uint8Array,
  options: WebhookOptions = {},
): Promise<Webhook> {
  checkOptions('parseWebhook', options, rules);
  const { bytes, event, signature } = await partsOf(received, options);
  const { envelopeData, readArrival, returnIdOf } = await import('../webhooks/reading.ts');
  const { checkSignature, maxSignedAgeMs } = await import('../webhooks/signature.ts');
  if (options.secret !== undefined) {
    const check = checkSignature(bytes, signature, options.secret);
    if (check !== 'good')
      throw new WebhookError(`signature_${check}`, `the signature of the event is ${check}`);
  }
  const facts = readArrival(bytes, event);
  if (!facts) throw new WebhookError('unreadable', 'the body is not a JSON object in UTF-8');
  const { maxAgeMs = maxSignedAgeMs } = options;
  if (options.secret !== undefined && facts.sentAt !== undefined && Date.now() - facts.sentAt > maxAgeMs)
    throw new WebhookError('too_old', 'the event is signed, and older than maxAgeMs allows');
  const body: JsonObject = JSON.parse(facts.body.replace(/^\uFEFF/, ''));
  const found = {
    orderId: facts.orderId ?? undefined,
    isVerified: options.secret !== undefined,
  };
  const data = envelopeData(body);
  if (!data)
    // The service may send any fields, so that all are optional.
    return { form: 'order', event: facts.event ?? undefined, ...found, data: body as Partial<OrderResponse> };
  return {
    form: 'envelope',
    event: facts.event ?? '',
    ...found,
    sentAt: facts.sentAt === undefined ? undefined : new Date(facts.sentAt),
    returnId: returnIdOf(body),
    data: { ...data },
  };
}

interface Parts {
  readonly bytes: Uint8Array;
  readonly event: string | undefined;
  readonly signature: string | undefined;
}

async function partsOf(received: unknown, { event, signature }: WebhookOptions): Promise<Parts> {
  if (typeof received === 'string') return { bytes: new TextEncoder().encode(received), event, signature };
  if (received instanceof Uint8Array) return { bytes: received, event, signature };
  if (!isRequest(received))
    throw new UsageError('parseWebhook takes a Request, or the raw body as text or bytes');
  if (received.bodyUsed)
    throw new UsageError('the body of the Request has been read already: read it once, and give its text');
  const { headers } = received;
  return {
    bytes: await bodyOf(received),
    event: event ?? headers.get(webhookEventHeader) ?? undefined,
    signature: signature ?? headers.get(webhookSignatureHeader) ?? undefined,
  };
}

const isRequest = (value: unknown): value is Request =>
  typeof value === 'object' && value !== null && 'headers' in value && 'arrayBuffer' in value;

/** @throws WebhookError for a body that is larger than any real event. */
async function bodyOf(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > maxBodyBytes)
      throw new WebhookError('unreadable', `the body has more than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const rules = {
  secret: aText('the secret of the registration'),
  signature: aText('the value of a header'),
  event: aText('the value of a header'),
  maxAgeMs: aTime('a number of milliseconds, at least 1'),
};
