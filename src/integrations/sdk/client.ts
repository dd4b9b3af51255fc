import { setMaxListeners } from 'node:events';
import { isObject } from '../../api/json.ts';
import {
  createClient as createHttpClient,
  type Client as HttpClient,
  type ClientOptions as HttpOptions,
} from '../../http/client.ts';
import { firstOf } from '../../http/credentials.ts';
import { InDoubtError, MissingKeyError } from '../../http/errors.ts';
import { pages } from '../../http/paging.ts';
import { checkedBase, embeddedScheme } from '../../http/request.ts';
import { adviceToPrograms } from '../../http/response.ts';
import { fetchTransport } from '../../http/transport/fetch.ts';
import { hearing } from '../../http/transport/hearing.ts';
import type { Transport } from '../../http/transport/transport.ts';
import { referenceQuery } from '../../orders/needs/reference-filter.ts';
import { once } from '../../platform/async.ts';
import { ServiceClock, systemClock } from '../../platform/clock.ts';
import { UsageError } from '../../platform/errors.ts';
import { isUrl, plainBase } from '../../platform/net/urls.ts';
import { version } from '../../platform/version.ts';
import {
  aCount,
  aFunction,
  anObject,
  aRecordOfTexts,
  aSignal,
  aText,
  aTime,
  aYesOrNo,
  checkOptions,
  knownName,
  type Rule,
  required,
} from './checks.ts';
import { setClientParts } from './client-parts.ts';
import type { Client, ClientOptions, ListOptions } from './client-types.ts';
import { hookTrace } from './hooks.ts';
import { type CallName, type ListName, operations } from './operations.ts';

/**
 * Creates a client of the service. Its retries, redirects, timeouts and redaction are those of the command line. It
 * reads no settings and no environment, keeps no journal and prints nothing.
 * @throws UsageError for an invalid option, or a base URL that must not receive keys.
 */
export function createClient(options: ClientOptions): Client {
  checkOptions('createClient', options, rules);
  const { baseUrl, apiKey, legacyBaseUrl, legacyToken, allowPlainHttp = false } = options;
  const service = baseOf(baseUrl, allowPlainHttp);
  const serviceClock = new ServiceClock(systemClock);
  const transport = hearing(
    options.transport ? fetchTransport(options.transport) : network(),
    new URL(service),
    { clock: systemClock, serviceClock },
  );
  const closing = new AbortController();
  const httpOptions: HttpOptions = {
    transport,
    baseUrl: service,
    legacyBaseUrl: legacyBaseUrl === undefined ? undefined : baseOf(legacyBaseUrl, allowPlainHttp),
    credentials: ({ auth }) => (auth === 'bearer' ? apiKey : legacyToken),
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    retries: options.retries,
    clock: systemClock,
    appInfo: appText(options.appInfo),
    observe: hookTrace(options),
    signal: sharedSignal(options.signal, closing.signal),
    allowPlainHttp,
    version,
    advice: adviceToPrograms,
  };
  const http = createHttpClient(httpOptions);
  const refuseClosed = (): void => {
    if (closing.signal.aborted) throw new UsageError('the client is closed; createClient makes another');
  };
  const checked = (name: string, input: unknown, isStreamed: boolean, more: unknown = {}): void => {
    refuseClosed();
    checkCall(name, input, { isStreamed, options });
    checkOptions(name, more, callRules);
  };
  const close = async (): Promise<void> => {
    closing.abort();
    await http.close();
  };
  const client: Client = {
    async call(name, ...[input = {}, more]) {
      checked(name, input, false, more);
      // The cast is safe, because a test verifies that the declared types match the operations table.
      return (await http.call(name, asSent(name, input) as never, more).catch(rethrow)) as never;
    },
    async stream(name, ...[input = {}, more]) {
      checked(name, input, true, more);
      return http.stream(name, input as never, more).catch(rethrow);
    },
    list: (name, ...given) => ({
      pages: () => client.pages(name, ...given),
      async *[Symbol.asyncIterator]() {
        for await (const { rows } of client.pages(name, ...given)) yield* rows;
      },
    }),
    async *pages(name, ...[input = {}, more = {}]) {
      checked(name, input, false, more);
      if (!isList(name)) throw new UsageError(`${name} returns no list; use client.call`);
      const caller = withOptions(http, more);
      for await (const { rows, total } of pages(caller, name, asSent(name, input) as never, { all: true }))
        yield { rows: rows as never, total };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  setClientParts(client, {
    baseUrl: service,
    apiKey: apiKey ?? '',
    serviceClock,
    signal: httpOptions.signal,
    under: (other, keys) => {
      refuseClosed();
      return createHttpClient({
        ...httpOptions,
        credentials: firstOf(keys, httpOptions.credentials),
        signal: other ? AbortSignal.any([httpOptions.signal, other]) : httpOptions.signal,
      });
    },
  });
  return client;
}

/** Adds given options to every call of a client. */
const withOptions = (http: HttpClient, { signal, ...more }: ListOptions): Pick<HttpClient, 'call'> => ({
  call: (name, input, options) => {
    const signals = [signal, options?.signal].filter((one) => one !== undefined);
    return http.call(name, input, { ...more, ...options, signal: AbortSignal.any(signals) });
  },
});

/** @throws UsageError for a name that cannot be part of a `user-agent`. */
function appText(appInfo: ClientOptions['appInfo']): string | undefined {
  if (appInfo === undefined) return undefined;
  checkOptions('appInfo', appInfo, appRules);
  const { name, version: of, url } = appInfo;
  return [of === undefined ? name : `${name}/${of}`, url === undefined ? '' : `(${url})`]
    .filter(Boolean)
    .join(' ');
}

/**
 * Converts a filter by reference to the filter that the service knows.
 * @throws UsageError.
 */
function asSent(name: string, input: object): object {
  const query: unknown = Reflect.get(input, 'query');
  if (name !== 'order.list' || !isObject(query)) return input;
  const { reference, namespace, ...others } = query;
  const named = { reference: textOf('reference', reference), namespace: textOf('namespace', namespace) };
  return { ...input, query: { ...others, ...referenceQuery(named, others, 'fields') } };
}

function textOf(field: string, value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  throw new UsageError(`${field} takes a text`);
}

/**
 * Restores the category `in_doubt`. For a command, the error has the category of the signal that ended the command. A
 * program, however, may abort for any reason.
 */
function rethrow(error: unknown): never {
  throw error instanceof InDoubtError && error.category !== 'in_doubt'
    ? new InDoubtError(error.message, { ...error.facts, cause: error })
    : error;
}

const defaultTimeoutMs = 30_000;

const rules = {
  baseUrl: required(aText('the address of the service, https://host/path')),
  apiKey: aText('an API key'),
  transport: aFunction('a function like the global fetch'),
  timeoutMs: aTime('a number of milliseconds, at least 1'),
  retries: aCount('a number of attempts, 0 for none'),
  signal: aSignal,
  allowPlainHttp: aYesOrNo,
  legacyBaseUrl: aText('the address of the legacy service, https://host/path'),
  legacyToken: aText('a client token'),
  appInfo: anObject,
  onRequest: aFunction('a function'),
  onResponse: aFunction('a function'),
  onRetry: aFunction('a function'),
};

const callRules = {
  signal: aSignal,
  timeoutMs: rules.timeoutMs,
  retries: rules.retries,
  headers: aRecordOfTexts,
  payment: aText('an authorization header'),
};

const aToken: Rule = {
  takes: 'letters, digits and -._~',
  is: (value) => typeof value === 'string' && /^[\w.~-]{1,100}$/.test(value),
};
const appRules = {
  name: required(aToken),
  version: aToken,
  url: {
    takes: 'a URL',
    is: (value) => typeof value === 'string' && /^https?:\/\/[!-'*-~]{1,200}$/.test(value),
  } satisfies Rule,
};

function baseOf(text: string, allowPlainHttp: boolean): string {
  if (!isUrl(text)) throw new UsageError(`"${text}" is not a base URL; write https://host/path`);
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
  const operation = operations[knownName(name, operationNames, 'operation')];
  const { response, surface, auth } = operation;
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
  for (const part of Object.keys(input)) {
    const known = knownName(part, inputParts, `part of the input of ${name} called`);
    const isTaken = (known === 'path' ? 'pathParameters' : known) in operation;
    if (!isTaken && Reflect.get(input, part) !== undefined) throw new UsageError(`${name} takes no ${part}`);
  }
}

const inputParts = ['path', 'query', 'body'] as const;
const operationNames = Object.keys(operations) as (keyof typeof operations)[];
const isList = (name: CallName): name is ListName => 'rows' in operations[name].response;

/**
 * Returns a signal that any number of concurrent calls may share. With a plain signal, Node prints a warning from the
 * eleventh listener on.
 */
function sharedSignal(given: AbortSignal | undefined, closing: AbortSignal): AbortSignal {
  const signal = AbortSignal.any(given ? [given, closing] : [closing]);
  setMaxListeners(0, signal);
  return signal;
}

/** Creates a transport that connects on the first request. */
function network(): Transport {
  let isOpen = false;
  const opened = once(async () => {
    isOpen = true;
    const { NetworkTransport } = await import('../../http/transport/network.ts');
    return new NetworkTransport();
  });
  return {
    send: async (request) => (await opened()).send(request),
    close: async () => {
      if (isOpen) await (await opened()).close();
    },
  };
}
