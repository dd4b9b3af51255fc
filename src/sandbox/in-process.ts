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
import { type Reply, replyTo } from './server/fault-injection.ts';
import type { Fault } from './server/faults.ts';
import { type Logged, mostKept, RequestLog } from './server/request-log.ts';
import type { Handle, SandboxRequest, SandboxResponse } from './server/wire.ts';
import { addressOf, type Delivery, readDeliveries } from './webhooks/read.ts';

export { exampleOrder } from './keys/keys.ts';
export { builtIns } from './scenarios/built-in.ts';
export { NotEmpty, type ScenarioProblem, ScenarioRefused } from './scenarios/problem.ts';
export type { Outcome } from './scenarios/rehearse.ts';
export { type Fault, readFault } from './server/faults.ts';
export type { Logged } from './server/request-log.ts';
export { halfOf, piecesOf, type SandboxBody, type SandboxResponse } from './server/wire.ts';
export type { Delivery } from './webhooks/read.ts';

/** What a client sees of a connection that ends before its response. */
const brokenOff: SandboxResponse = { status: 0, headers: {}, body: 'the connection was broken off' };

const host = '127.0.0.1';
/** Names below `localhost` lead nowhere but to this machine, and nothing that is served has this one. */
const socketlessUrl = 'http://sandbox.localhost';

interface InProcessOptions {
  /** On 127.0.0.1; 0 picks a free one, undefined opens none. */
  readonly port: number | undefined;
  readonly seed: number | undefined;
  readonly speed: number;
  readonly faults: readonly Fault[];
  /** The time that the sandbox's begins with and goes on by, ms since the epoch. */
  readonly now: () => number;
  readonly report: (error: unknown) => void;
  /** What it begins with. */
  readonly scenario?: Scenario | undefined;
}

export type InProcessRequest = Pick<SandboxRequest, 'method' | 'target' | 'headers' | 'body'>;

/** A sandbox for the process that it runs in: in memory, with what a test does to it. */
export interface InProcess {
  readonly baseUrl: string;
  readonly shopUrl: string;
  /** Never expires, whatever the time is moved to; the first one of a scenario that has some. */
  readonly apiKey: string;
  /** What a command line of this user sends, where the system does not tell whose a request is. */
  readonly token: string | undefined;
  /** Does the steps of its scenario, and checks what must be true at the end. */
  rehearse(scenario: Scenario, signal: AbortSignal): AsyncGenerator<Outcome>;
  /** What a caller on a connection gets, faults and all, without one. @param signal ends a delay that a fault makes. */
  send(request: InProcessRequest, signal: AbortSignal): Promise<Reply>;
  /** Fires a trigger on behalf of `apiKey`, past all faults. */
  trigger(body: object): Promise<SandboxResponse>;
  /** @returns the new time, ms since the epoch. */
  advance(ms: number): Promise<number>;
  /** @returns the name of the state, and its time in ms since the epoch. */
  keep(): Promise<{ readonly name: string; readonly at: number }>;
  restore(name: string): Promise<void>;
  /** The newest 1,000, oldest first. */
  requests(): Logged[];
  /** The newest 1,000, oldest first; of each URL what only its receiver is to know is left out. */
  deliveries(): Delivery[];
  close(): Promise<void>;
}

/** @throws Error where the port is taken. */
export async function openInProcess(options: InProcessOptions): Promise<InProcess> {
  const { port, seed, faults, report, now } = options;
  const requests = new RequestLog(findRoute);
  const closing = new AbortController();
  let sandbox: OpenSandbox | undefined;
  /** The sandbox's own time; a request that comes while it is opened is not taken yet. */
  const time = (): number => sandbox?.service.clock.now() ?? now();
  const open = (more: Required<Pick<OpenOptions, 'baseUrl' | 'faults'>>): Promise<OpenSandbox> =>
    openSandbox({
      ...more,
      file: ':memory:',
      config: { speed: options.speed },
      ...(seed !== undefined && { seed }),
      now,
      report,
      requests,
    });
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
      const noted = requests.begin({
        at: time(),
        method,
        target,
        headers,
        fault: drawn.fault ?? drawn.altering[0],
      });
      noted.took(body);
      const ending = AbortSignal.any([signal, closing.signal]);
      return await replyTo({ target, drawn, noted, signal: ending }, () =>
        handle({
          method: method === 'HEAD' ? 'GET' : method,
          target,
          headers,
          body,
          remoteAddress: host,
          identified: noted.identified,
          came: noted.came,
        }),
      );
    },
    trigger: (body) => fire(body, apiKey),
    advance: async (ms) => (await control.advance(ms)).now,
    async keep() {
      // Who snapshots it over its socket gives names of their own.
      const name = `test-${randomUUID()}`;
      return { name, at: await control.snapshot(name) };
    },
    restore: (name) => control.restore(name),
    requests: () =>
      requests
        .newest(mostKept)
        .map(({ request }) => request)
        .toReversed(),
    deliveries: () =>
      readDeliveries(store, { before: Number.MAX_SAFE_INTEGER, limit: mostKept })
        .map((delivery) => ({ ...delivery, url: addressOf(delivery.url) }))
        .toReversed(),
    async close() {
      closing.abort(new Error('the sandbox was closed'));
      await Promise.all([stopTicking(), served?.stop(), outbox.close()]);
      await opened.close();
      // What was to run in this turn of the event loop leaves no handle either.
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
    // A test that forgets to close it must not hang.
    server.unref();
    server.on('connection', (socket) => socket.unref());
    return { sandbox, token: owner.token, stop: () => stop(server) };
  }
}
