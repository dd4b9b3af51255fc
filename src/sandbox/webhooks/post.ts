import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { webhookEventHeader, webhookIdHeader } from '../../api/events.ts';
import { checkedLookup } from '../../platform/net/lookup.ts';
import { basicCredentials, hasCredentials } from '../../platform/net/urls.ts';
import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';
import { targetOf, type WebhookReach } from './address.ts';

/** What came of one attempt. `error` is null where it was delivered, and never shows more of the address than its host. */
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
  /** For the whole attempt, ms. */
  readonly limitMs: number;
  /** Ends the attempt without an outcome. One signal for each attempt, because a signal keeps its listeners. */
  readonly closing: AbortSignal;
}

/** How much of a response's body is read, bytes. Reading it lets the receiver finish. */
const mostRead = 64 * 1024;

/** Sends one webhook, once; redirects are not followed. @returns undefined where `closing` ended it. Never throws. */
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

/** Why nothing was delivered. */
class Undelivered extends Error {
  override readonly name = 'Undelivered';
}

/** Messages of Node's network errors name host and port, and nothing else of an address. */
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
  if (target.refusal !== undefined) throw new Undelivered(target.refusal);
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

/** What the receiver says after its status changes nothing any more, not even that it breaks off. */
function discard(response: IncomingMessage, done: () => void): void {
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostRead) response.destroy();
  });
  response.on('error', done);
  response.once('close', done);
}
