import { setMaxListeners } from 'node:events';
import { systemClock } from '../clock.ts';
import { UsageError } from '../errors.ts';
import { checkedBase, embeddedScheme } from '../http/address.ts';
import { adviceToPrograms } from '../http/advice.ts';
import { createClient as createHttpClient, type ClientOptions as HttpOptions } from '../http/client.ts';
import { MissingKeyError } from '../http/errors.ts';
import { pages } from '../http/paging.ts';
import { fetchTransport } from '../http/transport/fetch.ts';
import { type Transport, TransportFailure } from '../http/transport/transport.ts';
import { plainBase } from '../network/plain-base.ts';
import { once } from '../wait/once.ts';
import { aCount, aFunction, aSignal, aText, aYesOrNo, checkOptions, knownName, required } from './checks.ts';
import { keepClientParts } from './client-parts.ts';
import type { Client, ClientOptions } from './client-types.ts';
import { type CallName, type ListName, operations } from './operations.ts';
import { version } from './version.ts';

/**
 * A client of the service: retries, redirects, time limits and redaction as in the command line. It reads no settings and
 * no environment, keeps no journal and prints nothing.
 * @throws UsageError for an option that is wrong, and for a base URL that no key may be sent to.
 */
export function createClient(options: ClientOptions): Client {
  checkOptions('createClient', options, rules);
  const { baseUrl, apiKey, legacyBaseUrl, legacyToken, allowPlainHttp = false } = options;
  const service = baseOf(baseUrl, allowPlainHttp);
  const transport = closable(options.transport ? fetchTransport(options.transport) : network());
  const httpOptions: HttpOptions = {
    transport,
    baseUrl: service,
    legacyBaseUrl: legacyBaseUrl === undefined ? undefined : baseOf(legacyBaseUrl, allowPlainHttp),
    credentials: ({ auth }) => (auth === 'bearer' ? apiKey : legacyToken),
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    retries: options.retries,
    clock: systemClock,
    signal: sharedSignal(options.signal),
    allowPlainHttp,
    version,
    advice: adviceToPrograms,
  };
  const http = createHttpClient(httpOptions);
  const checked = (name: string, input: unknown, isStreamed: boolean): void =>
    checkCall(name, input, { isStreamed, options });
  const client: Client = {
    async call(name, ...[input = {}, more]) {
      checked(name, input, false);
      // What the table says of an operation is what its declared types say: a test compares them.
      return http.call(name, input as never, more) as never;
    },
    async stream(name, ...[input = {}, more]) {
      checked(name, input, true);
      return http.stream(name, input as never, more);
    },
    async *pages(name, ...[input = {}]) {
      checked(name, input, false);
      if (!isList(name)) throw new UsageError(`${name} returns no list; use client.call`);
      for await (const { rows, total } of pages(http, name, input as never, { all: true }))
        yield { rows: rows as never, total };
    },
    close: () => http.close(),
    [Symbol.asyncDispose]: () => http.close(),
  };
  keepClientParts(client, {
    baseUrl: service,
    apiKey: apiKey ?? '',
    under: (other) =>
      other
        ? createHttpClient({ ...httpOptions, signal: AbortSignal.any([httpOptions.signal, other]) })
        : http,
  });
  return client;
}

const defaultTimeoutMs = 30_000;

const rules = {
  baseUrl: required(aText('the address of the service, https://host/path')),
  apiKey: aText('an API key'),
  transport: aFunction('a function like the global fetch'),
  timeoutMs: aCount('a number of milliseconds'),
  retries: aCount('a number of attempts, 0 for none'),
  signal: aSignal,
  allowPlainHttp: aYesOrNo,
  legacyBaseUrl: aText('the address of the legacy service, https://host/path'),
  legacyToken: aText('a client token'),
};

function baseOf(text: string, allowPlainHttp: boolean): string {
  if (!URL.canParse(text)) throw new UsageError(`"${text}" is not a base URL; write https://host/path`);
  const url = checkedBase(text, allowPlainHttp);
  if (url.protocol !== embeddedScheme) return plainBase(url);
  throw new UsageError(
    '"embedded:" is the sandbox of the command line; errand/sandbox starts one for a program',
  );
}

function checkCall(
  name: string,
  input: unknown,
  { isStreamed, options }: { readonly isStreamed: boolean; readonly options: ClientOptions },
): void {
  const { response, surface, auth } = operations[knownName(name, operationNames, 'operation')];
  if ((response.type === 'csv') !== isStreamed)
    throw new UsageError(
      `${name} returns ${isStreamed ? 'JSON; use client.call' : 'CSV; use client.stream'}`,
    );
  if (surface === 'legacy' && options.legacyBaseUrl === undefined)
    throw new UsageError(`${name} is of the legacy service: createClient needs legacyBaseUrl for it`);
  const key = auth === 'bearer' ? 'apiKey' : 'legacyToken';
  if ((auth === 'bearer' || auth === 'basic') && options[key] === undefined)
    throw new MissingKeyError(`${name} needs ${key}, which createClient was not given`, {
      code: 'unauthorized',
    });
  if (typeof input !== 'object' || input === null)
    throw new UsageError(`${name} takes an object with path, query and body`);
  for (const part of Object.keys(input)) knownName(part, inputParts, `part of the input of ${name} called`);
}

const inputParts = ['path', 'query', 'body'] as const;
const operationNames = Object.keys(operations) as (keyof typeof operations)[];
const isList = (name: CallName): name is ListName => 'rows' in operations[name].response;

/** A signal under which any number of calls may run at once: Node warns from the eleventh on. */
function sharedSignal(given: AbortSignal | undefined): AbortSignal {
  const signal = given ? AbortSignal.any([given]) : new AbortController().signal;
  setMaxListeners(0, signal);
  return signal;
}

/** Connections are made when the first request needs one. */
function network(): Transport {
  let isOpen = false;
  const opened = once(async () => {
    isOpen = true;
    const { NetworkTransport } = await import('../http/transport/network.ts');
    return new NetworkTransport();
  });
  return {
    send: async (request) => (await opened()).send(request),
    close: async () => {
      if (isOpen) await (await opened()).close();
    },
  };
}

function closable(transport: Transport): Transport {
  let isClosed = false;
  return {
    async send(request) {
      if (isClosed) throw new TransportFailure('not_sent', 'the client is closed', { isPermanent: true });
      return transport.send(request);
    },
    async close() {
      isClosed = true;
      await transport.close();
    },
  };
}
