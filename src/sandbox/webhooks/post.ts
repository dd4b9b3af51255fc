import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import { webhookEventHeader, webhookIdHeader } from '../../api/events.ts';
import { checkedLookup } from '../../platform/net/lookup.ts';
import { basicCredentials, hasCredentials } from '../../platform/net/urls.ts';
import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';
import { targetOf, type WebhookReach } from './address.ts';

/** Result of an attempt. `error` is null on success. Otherwise it reveals only the host of the URL. */
export interface AttemptResult {
  readonly status: number | null;
  readonly error: string | null;
  readonly response: ReceiverResponse | null;
}

/** What a receiver responded. */
export interface ReceiverResponse {
  readonly headers: IncomingHttpHeaders;
  /** The beginning of the body. */
  readonly body: Buffer;
  /** Whether the full body was longer. */
  readonly isCut: boolean;
}

interface OutgoingWebhook {
  readonly url: string;
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
}

interface PostOptions {
  readonly reach: WebhookReach;
  /** Timeout for the whole attempt, in ms. */
  readonly limitMs: number;
  /**
   * Aborts the attempt, which then has no result. Each attempt needs a signal of its own, because a signal retains its
   * listeners.
   */
  readonly closing: AbortSignal;
}

/** Maximum size, in bytes, of the part of a response body that is kept. */
const maxKeptBytes = 8 * 1024;
/**
 * Maximum size, in bytes, of the part of a response body that is read. Reading lets the receiver finish its response.
 */
const maxReadBytes = 64 * 1024;

/** Sends a webhook once, without following redirects. @returns undefined if aborted by `closing`. Never throws. */
export async function post(
  webhook: OutgoingWebhook,
  options: PostOptions,
): Promise<AttemptResult | undefined> {
  try {
    return outcomeOf(await responseOf(webhook, options));
  } catch (error) {
    return options.closing.aborted ? undefined : { status: null, error: reason(error), response: null };
  }
}

interface Received extends ReceiverResponse {
  readonly status: number;
}

function outcomeOf({ status, ...response }: Received): AttemptResult {
  if (status >= 200 && status < 300) return { status, error: null, response };
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return { status, error: `HTTP ${status}${redirect}`, response };
}

/** The webhook was not delivered; the message says why. */
class Undelivered extends Error {
  override readonly name = 'Undelivered';
}

/** Messages of Node's network errors reveal only host and port. */
function reason(error: unknown): string {
  if (error instanceof Undelivered) return error.message;
  if (error instanceof Error && 'code' in error) return error.message || String(error.code);
  return 'the attempt failed';
}

async function responseOf(
  { url: address, event, eventId, body }: OutgoingWebhook,
  options: PostOptions,
): Promise<Received> {
  const { reach, limitMs, closing } = options;
  const url = new URL(address);
  const target = targetOf(url, reach);
  if (target.denial !== undefined) throw new Undelivered(target.denial);
  const send = url.protocol === 'https:' ? secureRequest : plainRequest;
  const bytes = Buffer.from(body);
  const outgoing = send({
    method: 'POST',
    host: target.host,
    port: url.port,
    path: `${url.pathname}${url.search}`,
    headers: {
      host: url.host,
      'content-type': 'application/json',
      'content-length': bytes.length,
      [webhookEventHeader]: event,
      [webhookIdHeader]: eventId,
      ...(hasCredentials(url) && { authorization: basicCredentials(url) }),
    },
    agent: false,
    lookup: checkedLookup((ip, name) =>
      target.mayReach(ip) ? undefined : new Undelivered(`${name} leads to an address that is not called`),
    ),
    signal: closing,
  });
  const late = new Undelivered(`no response within ${limitMs / 1000} s`);
  const timer = setTimeout(() => outgoing.destroy(late), limitMs);
  try {
    return await responseFrom(outgoing, bytes);
  } finally {
    clearTimeout(timer);
  }
}

function responseFrom(outgoing: ClientRequest, bytes: Uint8Array): Promise<Received> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.once('response', (response) =>
      read(response, (body, isCut) =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, isCut }),
      ),
    );
    outgoing.end(bytes);
  });
}

/**
 * Reads the rest of the response and keeps the beginning of its body. The status alone decides the result, so a dropped
 * connection no longer matters.
 */
function read(response: IncomingMessage, give: (body: Buffer, isCut: boolean) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const done = (): void => give(Buffer.concat(chunks).subarray(0, maxKeptBytes), size > maxKeptBytes);
  response.on('data', (chunk: Buffer) => {
    if (size < maxKeptBytes) chunks.push(chunk);
    size += chunk.length;
    if (size > maxReadBytes) response.destroy();
  });
  response.on('error', done);
  response.once('close', done);
}
