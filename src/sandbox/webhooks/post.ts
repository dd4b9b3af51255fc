import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { webhookEventHeader, webhookIdHeader } from '../../api/events.ts';
import { checkedLookup } from '../../platform/net/lookup.ts';
import { basicCredentials, hasCredentials } from '../../platform/net/urls.ts';
import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';
import { targetOf, type WebhookReach } from './address.ts';

/** Result of an attempt. `error` is null on success, and reveals no more of the URL than its host. */
export interface AttemptResult {
  readonly status: number | null;
  readonly error: string | null;
}

interface OutgoingWebhook {
  readonly url: string;
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
}

interface PostOptions {
  readonly reach: WebhookReach;
  /** Timeout for the whole attempt, ms. */
  readonly limitMs: number;
  /**
   * Aborts the attempt, which then has no result. Each attempt needs a signal of its own, because a signal retains its
   * listeners.
   */
  readonly closing: AbortSignal;
}

/** How much of a response body is read, bytes. Reading the body lets the receiver finish its response. */
const maxReadBytes = 64 * 1024;

/** Sends a webhook once, without following redirects. @returns undefined if aborted by `closing`. Never throws. */
export async function post(
  webhook: OutgoingWebhook,
  options: PostOptions,
): Promise<AttemptResult | undefined> {
  try {
    return outcomeOf(await statusOf(webhook, options));
  } catch (error) {
    return options.closing.aborted ? undefined : { status: null, error: reason(error) };
  }
}

function outcomeOf(status: number): AttemptResult {
  if (status >= 200 && status < 300) return { status, error: null };
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  return { status, error: `HTTP ${status}${redirect}` };
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

async function statusOf(
  { url: address, event, eventId, body }: OutgoingWebhook,
  options: PostOptions,
): Promise<number> {
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
    return await statusFrom(outgoing, bytes);
  } finally {
    clearTimeout(timer);
  }
}

function statusFrom(outgoing: ClientRequest, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.once('response', (response) => discard(response, () => resolve(response.statusCode ?? 0)));
    outgoing.end(bytes);
  });
}

/** Drains the response. Once the status has arrived, nothing changes the result, not even a dropped connection. */
function discard(response: IncomingMessage, done: () => void): void {
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxReadBytes) response.destroy();
  });
  response.on('error', done);
  response.once('close', done);
}
