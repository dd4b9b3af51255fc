import { controlPath, healthPath, type ServedRequest, sandboxTriggers } from '../../api/control.ts';
import { isObject, type JsonObject, jsonIn } from '../../api/json.ts';
import { uuidPattern } from '../../api/limits.ts';
import type { OperationName } from '../../api/operations/index.ts';
import { realMs } from '../../platform/clock.ts';
import type { Fault } from './faults.ts';
import { readTarget } from './request.ts';
import type { ActionSummary, FindRoute, Found } from './routes.ts';
import { copyOf, foreignJson, ownJson, shownTarget, withoutSecrets } from './secrets.ts';
import type { Reply, SandboxBody, SandboxRequest, SandboxResponse } from './wire.ts';

/** A finished request and the user behind it. */
export interface Logged extends Omit<ServedRequest, 'did'> {
  readonly userId: string | null;
}

/** A request with its contents and response. */
export interface Exchange {
  /** Sequence number, starting at 1. */
  readonly number: number;
  readonly request: Logged;
  /**
   * Sandbox time at which the request arrived, in ms since the epoch. Real time if the request never reached the
   * sandbox.
   */
  readonly sandboxAt: number;
  /** The order that the request created or referred to. */
  readonly orderId: string | null;
  readonly sent: LoggedSide;
  /** The service's own response; null if a fault kept the service from responding. */
  readonly received: LoggedSide | null;
  /**
   * What the client got if it did not get `received`: another response, half of the response, or a dropped connection.
   * Null if the client got `received`.
   */
  readonly instead: LoggedSide | 'half' | 'reset' | null;
  /** Text of the fault that was applied, as the user wrote it; null if no fault was applied. */
  readonly rule: string | null;
  /** The error code, or the first invalid field, that the client got. */
  readonly code: string | null;
  /** The idempotency key of an order. */
  readonly key: string | null;
  /** Whether a form of the console sent the request. */
  readonly isOfConsole: boolean;
}

interface StartedRequest extends Pick<Logged, 'at' | 'method' | 'target'>, Pick<SandboxRequest, 'headers'> {
  readonly fault: Fault | undefined;
}

/** Callbacks that record a request in progress. */
export interface Noting {
  readonly identified: (userId: string) => void;
  /** @param at sandbox time, ms since the epoch. */
  readonly started: (at: number) => void;
  /** Called when the body of the request has been received. */
  bodyRead(body: Uint8Array): void;
  /**
   * @param response the service's own response; null if a fault kept the service from responding.
   * @param reply what the client gets, if a fault replaced it.
   */
  done(response: SandboxResponse | null, reply?: Reply): void;
}

/** Maximum number of requests kept. Older requests are dropped. */
export const maxLogEntries = 100_000;
/** Number of requests whose headers are kept. For older requests, only the request line is kept. */
export const maxWholeEntries = 1000;
/** Maximum length, in characters, of all stored bodies together. The oldest bodies are dropped first. */
const maxBodiesLength = 500_000;
/**
 * Number of requests per second whose contents are logged. For all further requests in that second, only the request
 * line is logged.
 */
const maxReadPerSecond = 200;
/** Length, in characters, to which a request target is cut before redaction. This is more than is ever shown. */
const maxRawTargetLength = 2000;

/**
 * The newest requests of a served sandbox. The requests are kept only in the memory of this process. No request waits
 * for a log, and requests to other processes never appear. Secrets are removed before a request is stored. Handlers see
 * the log as the service's `RequestHistory`.
 */
export class RequestLog {
  readonly #findRoute: FindRoute;
  readonly #ring: Exchange[] = [];
  readonly #onEach: ((request: ServedRequest) => void) | undefined;
  #clock: { now(): number } | undefined;
  #next = 0;
  #bodies = 0;
  /** Index of the oldest request with bodies, and index of the oldest request with headers. */
  #oldestBody = 0;
  #oldestWhole = 0;
  /** The current second, and the number of requests whose contents were read in that second. */
  #second = 0;
  #readInSecond = 0;

  /** @param onEach is called with each finished request, after its secrets have been removed. */
  constructor(findRoute: FindRoute, onEach?: (request: ServedRequest) => void) {
    this.#findRoute = findRoute;
    this.#onEach = onEach;
  }

  /** Tells requests the time of the sandbox, which may be ahead of real time. */
  setClock(clock: { now(): number }): void {
    this.#clock = clock;
  }

  begin({ at, method, target, headers, fault }: StartedRequest): Noting {
    const startedAt = realMs();
    let userId: string | null = null;
    // A fault may refuse a request before the service sees it.
    let sandboxAt = this.#clock?.now() ?? at;
    let body: Uint8Array = nothing;
    return {
      identified: (id) => {
        userId = id;
      },
      started: (time) => {
        sandboxAt = time;
      },
      bodyRead: (bytes) => {
        body = bytes;
      },
      done: (response, reply) => {
        const found = this.#routeOf(method, target);
        const isOfConsole = 'kind' in found && found.kind === 'page';
        // Skip pages, because a live page is fetched every second and would quickly fill the log.
        if (response && method !== 'POST' && isPage(response, isOfConsole)) return;
        if (target === healthPath || (target === controlPath && method === 'GET')) return;
        const isRead = this.#isRead();
        const contents = isRead ? sentSide(headers, body) : unread;
        const received = response && (isRead ? receivedSide(response) : unread);
        const instead = insteadOf(response, reply, isRead);
        const { request } = this.#append({
          request: {
            at,
            method,
            target: shownTarget(target.slice(0, maxRawTargetLength)),
            status: sentStatus(fault, response),
            tookMs: realMs() - startedAt,
            userId,
            fault: fault?.kind ?? null,
          },
          sandboxAt,
          orderId: orderIn(found, contents, received),
          sent: contents,
          received,
          instead,
          rule: fault?.text ?? null,
          code: codeIn(instead ?? received),
          key: keyIn(found, contents),
          isOfConsole,
        });
        this.#report(request, () => actionSummaryOf(method, found, response));
      },
    };
  }

  #routeOf(method: string, target: string): Found {
    return this.#findRoute(method, readTarget(target).pathname);
  }

  /** Whether to read the contents of a request. Reading the contents of all requests would slow down benchmarks. */
  #isRead(): boolean {
    const second = Math.floor(realMs() / 1000);
    if (second !== this.#second) [this.#second, this.#readInSecond] = [second, 0];
    this.#readInSecond += 1;
    return this.#readInSecond <= maxReadPerSecond;
  }

  #append(contents: Omit<Exchange, 'number'>): Exchange {
    const slot = this.#next % maxLogEntries;
    const exchange = { number: this.#next + 1, ...contents };
    this.#ring[slot] = exchange;
    this.#bodies += lengthOf(exchange);
    this.#next += 1;
    while (this.#next - this.#oldestWhole > maxWholeEntries) this.#dropContents(this.#oldestWhole++, true);
    while (this.#bodies > maxBodiesLength && this.#oldestBody < this.#next)
      this.#dropContents(this.#oldestBody++);
    return exchange;
  }

  /** Computes `did` only on access, because that requires parsing a response that may be long. */
  #report(request: Logged, actionSummary: () => string | null): void {
    this.#onEach?.({
      ...request,
      get did() {
        return actionSummary();
      },
    });
  }

  #dropContents(index: number, withHeaders = false): void {
    const whole = this.#ring[index % maxLogEntries];
    if (!whole) return;
    this.#bodies -= lengthOf(whole);
    const drop = (side: LoggedSide): LoggedSide =>
      withHeaders ? { headers: [], body: bodiless(side).body } : bodiless(side);
    const { sent, received, instead } = whole;
    this.#ring[index % maxLogEntries] = {
      ...whole,
      sent: drop(sent),
      received: received && drop(received),
      instead: isSide(instead) ? drop(instead) : instead,
    };
  }

  get total(): number {
    return this.#next;
  }

  about(orderId: string, { key, userId }: { key?: string | null; userId?: string } = {}): Exchange[] {
    const isAttempt = (exchange: Exchange): boolean =>
      key != null && exchange.key === key && [null, userId].includes(exchange.request.userId);
    return this.latest(maxLogEntries)
      .filter((exchange) => exchange.orderId === orderId || isAttempt(exchange))
      .toReversed();
  }

  latest(limit: number, before = Number.POSITIVE_INFINITY): Exchange[] {
    const found = [];
    const oldest = Math.max(0, this.#next - maxLogEntries);
    for (
      let index = Math.min(this.#next, before - 1) - 1;
      index >= oldest && found.length < limit;
      index -= 1
    ) {
      const exchange = this.#ring[index % maxLogEntries];
      if (exchange) found.push(exchange);
    }
    return found;
  }
}

const nothing = new Uint8Array();

const bodiless = (side: LoggedSide): LoggedSide => ({ ...side, body: { ...side.body, text: null } });

const isSide = (instead: Exchange['instead']): instead is LoggedSide =>
  typeof instead === 'object' && instead !== null;

const lengthOf = ({ sent, received, instead }: Exchange): number =>
  (sent.body.text?.length ?? 0) +
  (received?.body.text?.length ?? 0) +
  (isSide(instead) ? (instead.body.text?.length ?? 0) : 0);

/** Whether a response is a page, or a list of the console as CSV. */
function isPage({ headers }: SandboxResponse, isOfConsole: boolean): boolean {
  const type = String(headers['content-type']);
  return type.startsWith('text/html') || (isOfConsole && type.startsWith('text/csv'));
}

function sentStatus(fault: Fault | undefined, response: SandboxResponse | null): number | null {
  if (fault && fault.status > 0) return fault.status;
  return fault?.kind === 'reset' ? null : (response?.status ?? null);
}

/** Maximum length, in characters, of a response that is parsed to find out what the request did. */
const maxParsedLength = 100_000;
/** Maximum length, in characters, of the description of a request's effect. */
const maxActionSummaryLength = 60;

const short = (id: unknown): string => (typeof id === 'string' ? id.slice(0, 8) : '');
const counted = (count: unknown, noun: string): string =>
  typeof count === 'number'
    ? `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
    : `${noun}s`;

/** Describes the effect of each mutating operation. */
const deeds: Partial<Readonly<Record<OperationName, ActionSummary>>> = {
  'order.create': (_, { id }) => `placed ${short(id)}`,
  'agent.order.create': (_, { id }) => `paid and placed ${short(id)}`,
  'order.cancel': ({ order_id: id }) => `cancelled ${short(id)}`,
  'legacy.retry': ({ request_id: from }, { request_id: id }) => `retried ${short(from)} as ${short(id)}`,
  'sandbox.mint': () => 'minted a key',
  'webhook.register': () => 'registered a webhook',
  'device.code': () => 'began a device sign-in',
  'device.token': () => 'signed a device in',
  'account.create': (_, { short_id: id }) => `stored account ${String(id)}`,
  'account.update': ({ short_id: id = '' }) => `changed account ${id}`,
  'account.delete': ({ short_id: id = '' }) => `deleted account ${id}`,
  'bulk.validate': (_, { total_rows: rows }) => `checked ${counted(rows, 'row')}`,
  'bulk.create': (_, { id, row_count: rows }) => `uploaded batch ${short(id)}, ${counted(rows, 'row')}`,
  'return.create': (_, { id }) => `requested return ${short(id)}`,
};

const controls: Readonly<Record<string, ActionSummary>> = {
  advance: (_, { now }) => `moved the clock to ${String(now)}`,
  snapshot: () => 'kept a state',
  restore: () => 'brought a state back',
  reset: () => 'emptied the sandbox',
  faults: (_, { faults }) => `switched to ${counted(Array.isArray(faults) ? faults.length : 0, 'fault')}`,
  speed: (_, { speed }) => `set the speed to ${String(speed)}`,
};

/**
 * The effect of a request, such as `placed 1a2b3c4d`, or the reason for its refusal, such as `insufficient_funds`; null
 * for reads. The text contains no secrets. It may contain untrusted field names, so it must be escaped for display.
 */
function actionSummaryOf(method: string, found: Found, response: SandboxResponse | null): string | null {
  if (!response) return null;
  const { status, body } = response;
  const read = typeof body === 'string' && body.length <= maxParsedLength ? objectIn(body) : {};
  const actionSummary = status >= 400 ? errorSummary(read) : done(method, found, response, read);
  return actionSummary === null ? null : actionSummary.slice(0, maxActionSummaryLength);
}

function done(method: string, found: Found, { headers }: SandboxResponse, body: JsonObject): string | null {
  if (!('kind' in found) || method === 'GET' || method === 'HEAD') return null;
  switch (found.kind) {
    case 'operation':
      return deeds[found.name]?.(found.path, body) ?? null;
    case 'trigger':
      return triggered(body);
    case 'control':
      return controls[found.path.action ?? '']?.(found.path, body) ?? null;
    case 'page':
      return found.did?.(found.path, String(headers.location ?? '')) ?? null;
    default:
      return null;
  }
}

/** Describes a trigger. Omits device codes, which are secret. */
function triggered({ event, id }: JsonObject): string {
  const { target = 'none' } = Object.entries(sandboxTriggers).find(([name]) => name === event)?.[1] ?? {};
  const what = target === 'account' ? String(id) : target === 'order' || target === 'return' ? short(id) : '';
  return `${String(event)} ${what}`.trim();
}

/** The error code, or the first invalid field. */
function errorSummary({ code, detail }: JsonObject): string | null {
  if (typeof code === 'string') return code;
  const [issue] = Array.isArray(detail) ? detail : [];
  if (!isObject(issue) || !Array.isArray(issue.loc)) return null;
  return `${issue.loc.join('.')}: ${String(issue.type)}`;
}

/** Empty if the text is no JSON object. For example, a fault may send a gateway's error page that begins like JSON. */
function objectIn(text: string): JsonObject {
  const value = text.startsWith('{') ? jsonIn(text) : undefined;
  return isObject(value) ? value : {};
}

function insteadOf(
  response: SandboxResponse | null,
  reply: Reply | undefined,
  isRead: boolean,
): Exchange['instead'] {
  if (!reply || (reply.kind === 'whole' && reply.response === response)) return null;
  if (reply.kind !== 'whole') return reply.kind;
  return isRead ? receivedSide(reply.response) : unread;
}

const codeIn = (side: Exchange['instead']): string | null =>
  isSide(side) && side.body.text !== null
    ? (errorSummary(objectIn(side.body.text))?.slice(0, maxActionSummaryLength) ?? null)
    : null;

function keyIn(found: Found, { body }: LoggedSide): string | null {
  if (!('kind' in found) || found.kind !== 'operation') return null;
  if (found.name !== 'order.create' && found.name !== 'agent.order.create') return null;
  return /"idempotency_key":"([^"\\]{1,36})"/.exec(body.text ?? '')?.[1] ?? null;
}

/** Finds the order id in each operation's response. */
const named: Partial<Record<OperationName, RegExp>> = {
  'order.create': /"id":"([\da-f-]{36})"/,
  'agent.order.create': /"id":"([\da-f-]{36})"/,
  'return.create': /"order_id":"([\da-f-]{36})"/,
  'return.get': /"order_id":"([\da-f-]{36})"/,
};

/** The order that a request created or referred to. */
function orderIn(found: Found, sent: LoggedSide, received: LoggedSide | null): string | null {
  if ('allowed' in found) return null;
  if (found.kind === 'operation') {
    const { order_id, request_id } = found.path;
    return asOrder(order_id ?? request_id ?? named[found.name]?.exec(received?.body.text ?? '')?.[1]);
  }
  if (found.kind === 'trigger')
    return asOrder(/"id"\s?:\s?"([\da-f-]{36})"/i.exec(sent.body.text ?? '')?.[1]);
  return found.kind === 'page' && found.order !== undefined ? asOrder(found.path[found.order]) : null;
}

const asOrder = (id: string | undefined): string | null =>
  id !== undefined && uuidPattern.test(id) ? id.toLowerCase() : null;

/** A body prepared for logging: the redacted beginning of the body, or only its size. */
export interface LoggedBody {
  /** The body as JSON, complete or truncated; null if the body was not kept. */
  readonly text: string | null;
  /** Size of the full body in bytes; null if the body was streamed. */
  readonly bytes: number | null;
  readonly isCut: boolean;
}

/** The request or the response of an exchange, redacted for logging. */
export interface LoggedSide {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: LoggedBody;
}

/** Maximum length of a stored body, in characters. */
const maxBodyLength = 8_000;
/**
 * Maximum size, in bytes, of a request body that is scanned for secrets. Larger bodies are not scanned and therefore
 * not stored.
 */
const maxBodyRead = 64 * 1024;
const maxHeaderLength = 300;
const maxHeaders = 60;

/** Headers with secret values. If a value starts with an authentication scheme, the scheme is still shown. */
const secretHeader =
  /^(?!idempotency-key$|x-idempotency-key$|sec-websocket-)(?:.*[-_])?(?:(?:proxy-?)?authorization|cookie|password|secret|token|(?:api)?key|signature|credential|payment-receipt)$/i;

type Headers = SandboxRequest['headers'];

const sentSide = (headers: Headers, body: Uint8Array): LoggedSide => ({
  headers: loggedHeaders(headers),
  body: sentBody(body, typeIn(headers)),
});

const receivedSide = ({ headers, body }: SandboxResponse): LoggedSide => ({
  headers: loggedHeaders(headers),
  body: receivedBody(body, typeIn(headers)),
});

/**
 * Prepares the response of a webhook's receiver for storage. @param isCut whether the response had more than `body`.
 */
export function loggedResponse(headers: Headers, body: Uint8Array, isCut: boolean): LoggedSide {
  const type = typeIn(headers);
  const logged = { headers: loggedHeaders(headers), body: sentBody(body, type) };
  if (isCut) return { ...logged, body: { text: null, bytes: null, isCut } };
  const isPlain = /^text\/(?:plain|html)\b/i.test(type) && body.length > 0;
  if (!isPlain) return logged;
  const text = withoutSecrets(Buffer.from(body).toString('utf8'));
  return { ...logged, body: { bytes: body.length, ...truncated(text) } };
}

/** Placeholder for a request or response whose contents were not read, because reading takes time. */
const unread: LoggedSide = { headers: [], body: { text: null, bytes: null, isCut: false } };

const typeIn = (headers: Headers): string => String(headers['content-type'] ?? '');

const isJson = (type: string): boolean =>
  type === '' || /^application\/(?:[\w.-]{1,60}\+)?json\b/i.test(type);

function loggedHeaders(headers: SandboxRequest['headers']): LoggedSide['headers'] {
  return Object.entries(headers)
    .slice(0, maxHeaders)
    .flatMap(([name, value]) =>
      value === undefined
        ? []
        : [value]
            .flat()
            .map((one) => [name, secretHeader.test(name) ? schemeOf(one) : headerText(one)] as const),
    );
}

const schemeOf = (value: string): string => `${/^(?:Basic|Bearer|Payment) /i.exec(value)?.[0] ?? ''}…`;

const headerText = (value: string): string =>
  withoutSecrets(value.length > maxHeaderLength ? `${copyOf(value.slice(0, maxHeaderLength))}…` : value);

/** A body without a content type counts as JSON. */
function sentBody(body: Uint8Array, type: string): LoggedBody {
  const { length: bytes } = body;
  if (bytes === 0 || bytes > maxBodyRead || !isJson(type)) return { text: null, bytes, isCut: false };
  const text = foreignJson(Buffer.from(body.buffer, body.byteOffset, bytes).toString('utf8'));
  return text === null ? { text, bytes, isCut: false } : { bytes, ...truncated(text) };
}

function receivedBody(body: SandboxBody, type: string): LoggedBody {
  if (body === null) return { text: null, bytes: 0, isCut: false };
  if (typeof body !== 'string') return { text: null, bytes: null, isCut: false };
  const bytes = Buffer.byteLength(body);
  if (!isJson(type)) return { text: null, bytes, isCut: false };
  const { text, isCut } = truncated(body);
  return { text: ownJson(text, isCut), bytes, isCut };
}

const truncated = (text: string): { text: string; isCut: boolean } =>
  text.length > maxBodyLength
    ? { text: copyOf(text.slice(0, maxBodyLength)), isCut: true }
    : { text, isCut: false };
