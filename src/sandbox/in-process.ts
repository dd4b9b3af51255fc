import { randomUUID } from 'node:crypto';
import { triggerPath } from '../api/control.ts';
import type { Scenario } from '../api/scenario/scenario.ts';
import { setImmediate } from '../platform/own-timers.ts';
import { SandboxFaults } from './control/faults.ts';
import { tick } from './control/tick.ts';
import { mintLastingKey } from './keys/keys.ts';
import { type OpenOptions, type OpenSandbox, openSandbox } from './open.ts';
import { findRoute } from './routes.ts';
import type { Played } from './scenarios/play.ts';
import type { Outcome } from './scenarios/rehearse.ts';
import { replyTo } from './server/fault-injection.ts';
import type { Fault } from './server/faults.ts';
import { type Logged, maxLogEntries, RequestLog } from './server/request-log.ts';
import type { Handle, Reply, SandboxRequest, SandboxResponse } from './server/wire.ts';
import { addressOf, type Delivery, readDeliveries } from './webhooks/read.ts';

export { exampleOrder } from './keys/keys.ts';
export { builtIns } from './scenarios/built-in.ts';
export { NotEmpty, type ScenarioProblem, ScenarioRefused } from './scenarios/problem.ts';
export type { Outcome } from './scenarios/rehearse.ts';
export { type Fault, readFault } from './server/faults.ts';
export type { Logged } from './server/request-log.ts';
export { chunksOf as piecesOf, halfOf, type SandboxBody, type SandboxResponse } from './server/wire.ts';
export type { Delivery } from './webhooks/read.ts';

/** The response that a client gets when a connection ends early. */
const brokenOff: SandboxResponse = { status: 0, headers: {}, body: 'the connection was broken off' };

const host = '127.0.0.1';
/** A host name under `localhost` never resolves to another machine, and no server uses this host name. */
const socketlessUrl = 'http://sandbox.localhost';

interface InProcessOptions {
  /** Port on 127.0.0.1. With 0, a free port is chosen. With undefined, no socket is opened. */
  readonly port: number | undefined;
  readonly seed: number | undefined;
  readonly speed: number;
  readonly faults: readonly Fault[];
  /** Base of the sandbox's clock, in ms since the epoch. */
  readonly now: () => number;
  readonly report: (error: unknown) => void;
  /** Initial state. */
  readonly scenario?: Scenario | undefined;
}

export type InProcessRequest = Pick<SandboxRequest, 'method' | 'target' | 'headers' | 'body'>;

/** An in-memory sandbox that runs in the process of a test, with the controls that a test needs. */
export interface InProcess {
  readonly baseUrl: string;
  readonly shopUrl: string;
  /**
   * The scenario's first key if it defines any, otherwise a minted key. The key never expires, even if the clock is
   * advanced.
   */
  readonly apiKey: string;
  /** Token that the user's CLI sends, on systems that cannot tell which user a connection belongs to. */
  readonly token: string | undefined;
  /** Runs the steps of a scenario and checks its final expectations. */
  rehearse(scenario: Scenario, signal: AbortSignal): AsyncGenerator<Outcome>;
  /**
   * Handles a request without a socket. The same faults apply as over a socket. @param signal aborts a delay caused by
   * a fault.
   */
  send(request: InProcessRequest, signal: AbortSignal): Promise<Reply>;
  /** Fires a trigger on behalf of `apiKey`, bypassing all faults. */
  trigger(body: object): Promise<SandboxResponse>;
  /** @returns the new time, ms since the epoch. */
  advance(ms: number): Promise<number>;
  /** @returns the name of the snapshot, and the time of the snapshot in ms since the epoch. */
  saveSnapshot(): Promise<{ readonly name: string; readonly at: number }>;
  restore(name: string): Promise<void>;
  /** The newest 1,000 requests, oldest first. */
  requests(): Logged[];
  /** The newest 1,000 deliveries, oldest first. Secret parts of receiver URLs are stripped. */
  deliveries(): Delivery[];
  close(): Promise<void>;
}

/** @throws Error if the port is in use. */
export async function openInProcess(options: InProcessOptions): Promise<InProcess> {
  const { port, seed, faults, report, now } = options;
  const requests = new RequestLog(findRoute);
  const closing = new AbortController();
  let sandbox: OpenSandbox | undefined;
  /** The sandbox's time. Falls back to `now` until the sandbox is open. No requests are accepted before then. */
  const time = (): number => sandbox?.service.clock.now() ?? now();
  const open = async (more: Required<Pick<OpenOptions, 'baseUrl' | 'faults'>>): Promise<OpenSandbox> => {
    const opened = await openSandbox({
      ...more,
      file: ':memory:',
      config: { speed: options.speed },
      ...(seed !== undefined && { seed }),
      now,
      report,
      requests,
    });
    return { ...opened, handle: dated(opened) };
  };
  const served = port === undefined ? undefined : await behindSocket(port);
  const opened =
    served?.sandbox ??
    (await open({
      baseUrl: socketlessUrl,
      faults: (store) => new SandboxFaults(store, { faults, seed: seed ?? 0 }),
    }));
  sandbox = opened;
  const { service, outbox, handle, faults: drawing } = opened;
  if (!drawing) throw new Error('it was opened without its faults');
  const { store, config } = service;
  const played = options.scenario && (await begin(options.scenario));
  const apiKey = played?.keys[0]?.apiKey ?? (await mintLastingKey(service, host));
  const control = await service.control();
  const stopTicking = tick(service);
  const sandboxInProcess: InProcess = {
    baseUrl: config.baseUrl,
    shopUrl: config.shopUrl,
    apiKey,
    token: served?.token,
    rehearse,
    async send({ method, target, headers, body }, signal) {
      if (drawing.isRefused()) return { kind: 'reset' };
      const drawn = drawing.draw({ method, target, headers });
      const logged = requests.begin({
        at: time(),
        method,
        target,
        headers,
        fault: drawn.fault ?? drawn.altering[0],
      });
      logged.bodyRead(body);
      const ending = AbortSignal.any([signal, closing.signal]);
      return await replyTo({ target, drawn, logged, signal: ending }, () =>
        handle({
          method: method === 'HEAD' ? 'GET' : method,
          target,
          headers,
          body,
          remoteAddress: host,
          identified: logged.identified,
          started: logged.started,
        }),
      );
    },
    trigger: (body) => fire(body, apiKey),
    advance: async (ms) => (await control.advance(ms)).now,
    async saveSnapshot() {
      // A random name avoids clashes with snapshots taken over the socket.
      const name = `test-${randomUUID()}`;
      return { name, at: await control.snapshot(name) };
    },
    restore: (name) => control.restore(name),
    requests: () =>
      requests
        .latest(maxLogEntries)
        .map(({ request }) => request)
        .toReversed(),
    deliveries: () =>
      readDeliveries(store, { before: Number.MAX_SAFE_INTEGER, limit: maxLogEntries })
        .map((delivery) => ({ ...delivery, url: addressOf(delivery.url) }))
        .toReversed(),
    async close() {
      closing.abort(new Error('the sandbox was closed'));
      await Promise.all([stopTicking(), served?.stop(), outbox.close()]);
      await opened.close();
      // Waits for the callbacks that are queued for this turn of the event loop, so that no handle stays open.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return sandboxInProcess;

  async function* rehearse(scenario: Scenario, signal: AbortSignal): AsyncGenerator<Outcome> {
    const [{ rehearse }, { readReply, senderTo }] = await Promise.all([
      import('./scenarios/rehearse.ts'),
      import('./scenarios/stage.ts'),
    ]);
    if (!played) throw new Error('it was opened without its scenario');
    const asClient: Handle = async (request) => {
      signal.throwIfAborted();
      const reply = await sandboxInProcess.send(request, signal);
      return reply.kind === 'whole' ? reply.response : brokenOff;
    };
    yield* rehearse(scenario, {
      service,
      played,
      send: senderTo(asClient),
      trigger: async (body, key) => readReply(await fire(body, key)),
      advance: (ms) => control.advance(ms),
    });
  }

  async function begin(scenario: Scenario): Promise<Played> {
    const [{ playScenario }, { createApp }] = await Promise.all([
      import('./scenarios/play.ts'),
      import('./app.ts'),
    ]);
    try {
      return await playScenario(service, scenario, createApp);
    } catch (error) {
      await served?.stop();
      await opened.close();
      throw error;
    }
  }

  async function fire(body: object, key: string): Promise<SandboxResponse> {
    const response = await handle({
      method: 'POST',
      target: triggerPath,
      headers: { authorization: `Bearer ${key}` },
      body: Buffer.from(JSON.stringify(body)),
      remoteAddress: host,
    });
    await control.settle();
    return response;
  }

  async function behindSocket(port: number) {
    const { openBehindSocket } = await import('./serve.ts');
    const { stop } = await import('./server/server.ts');
    const answering = { host, port, report, requests, now: time, faults, seed, signal: closing.signal };
    const { server, sandbox, owner } = await openBehindSocket(answering, open);
    // Don't let the server keep a test process alive if the test forgets to close the server.
    server.unref();
    server.on('connection', (socket) => socket.unref());
    return { sandbox, token: owner.token, stop: () => stop(server) };
  }
}

/** Sets the `date` header of each response to sandbox time, as a served sandbox does. */
const dated =
  ({ handle, service }: OpenSandbox): Handle =>
  async (request) => {
    const { headers, ...response } = await handle(request);
    return { ...response, headers: { ...headers, date: new Date(service.clock.now()).toUTCString() } };
  };
