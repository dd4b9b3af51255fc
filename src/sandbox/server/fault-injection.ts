import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { healthPath, isControl } from '../../api/control.ts';
import { isObject, type JsonObject } from '../../api/json.ts';
import { eachPlainField } from '../../api/order-fields.ts';
import { type NormaliseVariant, normaliseVariants, oddIds } from '../../api/sandbox-faults.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import { clearTimeout, setTimeout } from '../../platform/own-timers.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { Random } from '../store/random.ts';
import { prefersHtml } from './browser.ts';
import { codesOf, type Fault, type FaultKind } from './faults.ts';
import { json } from './refusal.ts';
import { readTarget } from './request.ts';
import type { Noting } from './request-log.ts';
import { halfOf, headerOf, type Reply, type SandboxRequest, type SandboxResponse } from './wire.ts';

interface OrderJson extends JsonObject {
  readonly id: unknown;
  readonly shipping_address: JsonObject;
  readonly items: readonly JsonObject[];
}

const isOrderRecord = (value: unknown): value is OrderJson =>
  isObject(value) &&
  'id' in value &&
  isObject(value.shipping_address) &&
  Array.isArray(value.items) &&
  value.items.every(isObject);

/**
 * Rewrites the order records in a response as other servers might write them. Applies the named variants. If no variant
 * is named, chooses random variants for each record.
 */
export function normalise(value: unknown, named: readonly string[], random: Random): unknown {
  if (Array.isArray(value)) return value.map((each) => normalise(each, named, random));
  if (!isObject(value)) return value;
  if (isOrderRecord(value)) {
    const names = named.length > 0 ? named : random.some(Object.keys(normaliseVariants), 1);
    return names.filter(isVariant).reduce<OrderJson>((order, name) => normalisers[name](order), value);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, normalise(each, named, random)]),
  );
}

const isVariant = (name: string): name is NormaliseVariant => Object.hasOwn(normalisers, name);

type Change = (value: unknown) => unknown;
type Respell = (order: OrderJson) => OrderJson;

/** Applies a change to strings only. */
const text =
  (change: (text: string) => string): Change =>
  (value) =>
    typeof value === 'string' ? change(value) : value;

const upper = text((value) => value.toUpperCase());

const inAddress =
  (keys: readonly string[], change: Change): Respell =>
  (order) => ({ ...order, shipping_address: changed(order.shipping_address, keys, change) });

const inItems =
  (keys: readonly string[], change: Change): Respell =>
  (order) => ({ ...order, items: order.items.map((item) => changed(item, keys, change)) });

const changed = (object: JsonObject, keys: readonly string[], change: Change): JsonObject => ({
  ...object,
  ...Object.fromEntries(keys.filter((key) => key in object).map((key) => [key, change(object[key])])),
});

const each =
  (change: Change): Change =>
  (value) => {
    if (Array.isArray(value)) return value.map(each(change));
    if (!isObject(value)) return change(value);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, each(change)(part)]));
  };

const trimmed = each(text((value) => value.trim().replace(/ {2,}/g, ' ')));
const emptied: Change = (value) => value ?? '';
const present = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

const plainTexts = eachPlainField.flatMap(([name, { type }]) => (type === 'string' ? [name] : []));

const normalisers: Readonly<Record<NormaliseVariant, Respell>> = {
  phone: (order) => inAddress(['phone_number'], international(order.shipping_address.country))(order),
  zip: inAddress(
    ['postal_code'],
    text((code) => (/^\d{5}$/.test(code) ? `${code}-0001` : code)),
  ),
  city: inAddress(['city'], upper),
  street: inAddress(['address_line1', 'address_line2'], text(standardStreet)),
  state: inAddress(
    ['state'],
    text((state) => (state === state.toUpperCase() ? state.toLowerCase() : state.toUpperCase())),
  ),
  country: inAddress(
    ['country'],
    text((code) => threeLetters[code.toUpperCase()] ?? code),
  ),
  name: inAddress(['first_name', 'last_name'], upper),
  spaces: (order) => ({
    ...changed(order, [...plainTexts, 'metadata'], trimmed),
    id: order.id,
    shipping_address: changed(order.shipping_address, Object.keys(order.shipping_address), trimmed),
    items: order.items,
  }),
  metadata: (order) => ({
    ...order,
    metadata: { ...(isObject(order.metadata) && order.metadata), source: 'api' },
  }),
  price: (order) => ({ ...order, max_price: String(order.max_price) }),
  quantity: inItems(['quantity'], String),
  url: inItems(['url'], text(standardUrl)),
  items: (order) => ({ ...order, items: order.items.toReversed() }),
  variant: inItems(['variant'], each(text((value) => value.toLowerCase()))),
  absent: (order) => ({
    ...present(order),
    id: order.id,
    shipping_address: present(order.shipping_address),
    items: order.items.map(present),
  }),
  empty: (order) => ({
    ...changed(order, plainTexts, emptied),
    id: order.id,
    shipping_address: changed(order.shipping_address, ['address_line2', 'state'], emptied),
    items: order.items,
  }),
};

const threeLetters: Readonly<Record<string, string>> = { US: 'USA', DE: 'DEU', IT: 'ITA' };
const callingCodes: Readonly<Record<string, string>> = { US: '1', DE: '49', IT: '39' };

const international = (country: unknown): Change =>
  text((phone) => {
    const digits = phone.replace(/\D/g, '');
    const code = callingCodes[String(country).toUpperCase()] ?? '';
    return phone.startsWith('+') || digits.length > 10 ? `+${digits}` : `+${code}${digits}`;
  });

const abbreviations: Readonly<Record<string, string>> = {
  STREET: 'ST',
  AVENUE: 'AVE',
  ROAD: 'RD',
  DRIVE: 'DR',
  APARTMENT: 'APT',
  SUITE: 'STE',
};

function standardStreet(street: string): string {
  const words = street.toUpperCase().split(' ');
  return words.map((word) => abbreviations[word] ?? word).join(' ');
}

function standardUrl(text: string): string {
  const url = parseUrl(text);
  if (!url) return text;
  url.hash = '';
  url.searchParams.sort();
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url.href;
}

const altering: ReadonlySet<FaultKind> = new Set(['normalise', 'id', 'another-order']);

const isAltering = (kind: FaultKind): boolean => altering.has(kind);

interface Alterations {
  readonly altering: readonly Fault[];
  readonly alter: (response: SandboxResponse) => SandboxResponse;
}

/**
 * The seeded faults that alter responses. These faults are drawn independently of the faults that break off a response.
 */
function alterations(
  faults: readonly Fault[],
  seed: number | string,
  count: (fault: Fault, isHit: boolean) => void,
): (method: string, pathname: string) => Alterations {
  const random = Random.of('alterations', seed);
  const replaceOrder = orderReplacer(random);
  const change = (fault: Fault, value: unknown): unknown => {
    if (fault.kind === 'normalise') return normalise(value, fault.variants, random);
    return fault.kind === 'id' ? withOddId(value, fault.variants, random) : replaceOrder(value);
  };
  return (method, pathname) => {
    const drawn = faults.filter((one) => {
      if (!one.matches(method, pathname)) return false;
      const isHit = random.chance(one.share);
      count(one, isHit);
      return isHit;
    });
    return {
      altering: drawn,
      alter: (response) =>
        drawn.length === 0
          ? response
          : withJson(response, (value) => drawn.reduce((changed, fault) => change(fault, changed), value)),
    };
  };
}

/** Applies a change to successful JSON responses only. */
function withJson(response: SandboxResponse, change: (value: unknown) => unknown): SandboxResponse {
  const { status, headers, body } = response;
  const isJson = String(headers['content-type']).startsWith('application/json');
  if (status >= 300 || !isJson || typeof body !== 'string') return response;
  return { ...response, body: JSON.stringify(change(JSON.parse(body))) };
}

function withOddId(value: unknown, variants: readonly string[], random: Random): unknown {
  if (!isObject(value) || !('id' in value)) return value;
  const [first = 'null', ...rest] = variants.length > 0 ? variants : Object.keys(oddIds);
  const odd: Readonly<Record<string, unknown>> = oddIds;
  return { ...value, id: odd[random.pick([first, ...rest])] };
}

/** Replaces an order record with the record that was sent just before, as a faulty cache would. */
function orderReplacer(random: Random): (value: unknown) => unknown {
  let before: OrderJson | undefined;
  return (value) => {
    if (!isOrderRecord(value)) return value;
    const other = before && before.id !== value.id ? before : invented(value, random);
    before = value;
    return other;
  };
}

/** A made-up order that does not exist. */
function invented(order: OrderJson, random: Random): OrderJson {
  const digits = Array.from({ length: 12 }, () => random.integer(0, 15).toString(16)).join('');
  return {
    ...order,
    id: `${String(order.id).slice(0, -12)}${digits}`,
    max_price: 123_456,
    metadata: {},
    shipping_address: {
      ...order.shipping_address,
      first_name: 'Somebody',
      last_name: 'Else',
      address_line1: '99 Other Road',
    },
  };
}

interface Drawn {
  /** A fault that replaces, delays or breaks off the response. */
  readonly fault: Fault | undefined;
  /** Faults that alter the response. */
  readonly altering: readonly Fault[];
  readonly alter: (response: SandboxResponse) => SandboxResponse;
}

/** Draws the faults for a request. The result depends on the seed and on all previous draws. */
export type Draw = (request: Pick<SandboxRequest, 'method' | 'target' | 'headers'>) => Drawn;

const none: Drawn = { fault: undefined, altering: [], alter: (response) => response };

/** Marks a request that follows a redirect, because redirecting that request again would cause a loop. */
const redirected = 'redirected';

/**
 * Whether faults skip a request. Faults skip pages for people, the control API and readiness checks. The number of such
 * requests is unpredictable, and a draw for one of them would change all later draws.
 */
const isSpared = (pathname: string, headers: SandboxRequest['headers']): boolean =>
  pathname === healthPath || isControl(pathname) || prefersHtml(headerOf({ headers }, 'accept'));

/** The faults of a served sandbox. The same seed and sequence of requests give the same faults. */
export function drawFaults(
  faults: readonly Fault[],
  seed: number | string,
  count: (fault: Fault, isHit: boolean) => void = () => {},
): Draw {
  const random = Random.of('faults', seed);
  const breaking = faults.filter(({ kind }) => kind !== 'refuse' && !isAltering(kind));
  const drawAlterations = alterations(
    faults.filter(({ kind }) => isAltering(kind)),
    seed,
    count,
  );
  return ({ method, target, headers }) => {
    if (faults.length === 0) return none;
    const { pathname, search } = readTarget(target);
    if (isSpared(pathname, headers)) return none;
    const wasRedirected = new URLSearchParams(search).has(redirected);
    const fault = breaking.find((one) => {
      const { kind, matches, share } = one;
      if (!matches(method, pathname) || (kind === 'redirect' && wasRedirected)) return false;
      const isHit = random.chance(share);
      count(one, isHit);
      return isHit;
    });
    return { fault, ...drawAlterations(method, pathname) };
  };
}

/** Whether to drop the next connection. The result depends on the seed and on all previous draws. */
export function drawRefusals(faults: readonly Fault[], seed: number | string): () => boolean {
  const refusals = faults.filter(({ kind }) => kind === 'refuse');
  const random = Random.of('connections', seed);
  return () => refusals.some(({ share }) => random.chance(share));
}

/**
 * Drops a share of the connections. A connection is dropped at its first request to the service.
 * @param isRefused whether to drop a connection; draws only once for each connection.
 */
export function refuseConnections(server: Server, isRefused: (connection: object) => boolean): void {
  server.prependListener('request', ({ socket, url = '/', headers }) => {
    if (!isSpared(readTarget(url).pathname, headers) && isRefused(socket)) reset(socket);
  });
}

/**
 * The response that a fault sends instead of the service's own; undefined if the fault sends no response.
 * @param target request target. @param response the service's own response, if the service has done the work.
 */
function substituteResponse(
  fault: Fault,
  target: string,
  response?: SandboxResponse,
): SandboxResponse | undefined {
  const { kind, status, ms, variants, body: own } = fault;
  if (kind === 'status') {
    const headers = {
      ...(status === 429 && { 'retry-after': String(Math.ceil(ms / 1000)) }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    };
    return json(status, own === undefined ? errorBody(status, variants[0]) : JSON.parse(own), headers);
  }
  if (kind === 'bare') return { status, headers: {}, body: null };
  if (kind === 'html') return gatewayPage(status);
  if (kind !== 'redirect') return undefined;
  return { status, headers: { location: elsewhere(target, response) }, body: null };
}

/** The service's error body for a status. `details` stay empty, as no order is involved. */
function errorBody(status: number, code: string | undefined): object {
  const message = 'A fault that is on in this sandbox.';
  if (status === 422 && code === undefined)
    return { detail: [{ loc: ['body'], msg: message, type: 'fault' }] };
  return {
    code: code ?? defaultCodes[status] ?? codesOf(status)[0] ?? otherCode(status),
    message,
    details: {},
  };
}

const defaultCodes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  502: 'external_service_error',
  503: 'service_unavailable',
};

const otherCode = (status: number): string => (status < 500 ? 'bad_request' : 'internal_error');

function gatewayPage(status: number): SandboxResponse {
  const body = `<!DOCTYPE html>\n<html><head><title>${status}</title></head>\n<body><center><h1>${status}</h1></center><hr><center>gateway</center></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html' }, body };
}

/** Target of a redirect: the URL of the created resource, or else the same URL. */
function elsewhere(target: string, response: SandboxResponse | undefined): string {
  const { pathname, search } = readTarget(target);
  const made =
    response?.status === 201 && typeof response.body === 'string' ? JSON.parse(response.body).id : null;
  if (typeof made === 'string') return `${pathname}/${made}`;
  return `${pathname}?${[...(search === '' ? [] : [search]), `${redirected}=1`].join('&')}`;
}

/** Sends half of a response but declares its full content length, then drops the connection. */
export async function sendHalf(
  response: ServerResponse,
  { status, headers, body }: SandboxResponse,
): Promise<void> {
  const { half, length } = await halfOf(body);
  response.writeHead(status, { ...headers, 'content-length': Math.max(1, length) });
  await new Promise((resolve) => response.write(half, resolve));
  response.destroy();
}

interface Replying {
  readonly target: string;
  /** Faults drawn for the request. */
  readonly drawn: Drawn;
  readonly logged: Pick<Noting, 'done'>;
  /** Aborts a delay. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Handles a request and applies the faults drawn for it. Does not depend on the transport. @param work runs the
 * service.
 * @throws the abort reason of the signal.
 */
export async function replyTo(
  { target, drawn: { fault, alter }, logged, signal }: Replying,
  work: () => Promise<SandboxResponse>,
): Promise<Reply> {
  if (fault?.kind === 'delay') await pause(fault.ms, signal);
  else if (fault && !fault.after) {
    const reply = spoiled(fault, target);
    logged.done(null, reply);
    return reply;
  }
  const response = alter(await work().catch(storeUnavailable));
  const reply: Reply = fault?.after ? spoiled(fault, target, response) : { kind: 'whole', response };
  logged.done(response, reply);
  return reply;
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Applies a fault that replaces or breaks off a response. If the service has already responded, the fault applies to
 * that response.
 */
function spoiled(fault: Fault, target: string, response?: SandboxResponse): Reply {
  const instead = substituteResponse(fault, target, response);
  if (instead) return { kind: 'whole', response: instead };
  return fault.kind === 'truncate' && response ? { kind: 'half', response } : { kind: 'reset' };
}

/** Reports a store error without revealing the file name. */
function storeUnavailable(error: unknown): SandboxResponse {
  if (!(error instanceof DatabaseError)) throw error;
  const message = `The sandbox cannot use its data now: ${error.reason}.`;
  return json(503, { code: 'service_unavailable', message, details: {} });
}

/**
 * Closes a connection with a TCP reset. If the FIN of the connection is still pending, destroys the connection instead.
 * Node would otherwise never release the connection, and the process would stay alive.
 */
export function reset(socket: Socket | null): void {
  if (socket?.writableEnded && !socket.writableFinished) socket.destroy();
  else socket?.resetAndDestroy();
}
