import { existsSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { ServedRequest } from '../api/control.ts';
import type { Scenario } from '../api/scenario/scenario.ts';
import type { Waiting } from '../platform/async.ts';
import type { Warn } from '../platform/private-files.ts';
import { createApp } from './app.ts';
import { type SandboxConfig, servedMintsPerDay, servedReadBudgetMs } from './config.ts';
import { SandboxFaults } from './control/faults.ts';
import { tick } from './control/tick.ts';
import { type OpenOptions, type OpenSandbox, openSandbox } from './open.ts';
import { findRoute } from './routes.ts';
import { ScenarioRefused } from './scenarios/problem.ts';
import { refuseConnections } from './server/fault-injection.ts';
import type { Fault } from './server/faults.ts';
import { codeParameter, Owner, type Users } from './server/owner.ts';
import { RequestLog } from './server/request-log.ts';
import { createHttpServer, listen, respondWith, stop } from './server/server.ts';
import type { Service } from './server/service.ts';
import { filesOf } from './store/store.ts';
import { emptyStore } from './store/tables.ts';

export type { PaymentScheme } from './config.ts';

export { readFault } from './server/faults.ts';

interface SocketOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
  readonly requests: RequestLog;
  /** Initial faults. */
  readonly faults?: readonly Fault[];
  /** Seed of the faults' random draws. */
  readonly seed?: number | undefined;
  /** Aborts delays caused by faults. */
  readonly signal?: AbortSignal;
  /** Determines which user is behind a connection. By default, asks the operating system. */
  readonly users?: Users | undefined;
}

export interface ServeOptions extends Omit<SocketOptions, 'requests' | 'signal' | 'seed'> {
  /** Path of the store, or `:memory:`. */
  readonly file: string;
  readonly seed?: number;
  readonly config?: Partial<SandboxConfig>;
  readonly warn?: Warn;
  /** Called with each finished request, with secrets removed. */
  readonly onRequest?: (request: ServedRequest) => void;
  readonly waiting?: Waiting;
  /** Initial state; requires an empty store. */
  readonly scenario?: Scenario | undefined;
}

export interface Served {
  /** The scenario's keys. */
  readonly keys: readonly { readonly name: string; readonly apiKey: string }[];
  readonly baseUrl: string;
  readonly legacyBaseUrl: string;
  readonly shopUrl: string;
  /**
   * URL of the console. If the operating system cannot tell which user sends a request, the URL includes a single-use
   * code for one browser.
   */
  readonly consoleUrl: string;
  /**
   * Token for the CLI of the user running the sandbox, if the operating system cannot tell which user sends a request.
   */
  readonly token: string | undefined;
  /** Initial faults in `--fault` syntax. These are the given faults, or else the faults stored in the data. */
  readonly faults: readonly string[];
  readonly service: Service;
  close(): Promise<void>;
}

/** Serves the sandbox over HTTP. @throws Error if the port is in use, DatabaseError if the data cannot be used. */
export async function serveSandbox(options: ServeOptions): Promise<Served> {
  const requests = new RequestLog(findRoute, options.onRequest);
  const config: Partial<SandboxConfig> = {
    ...{ mintLimitPerDay: servedMintsPerDay, readBudgetMs: servedReadBudgetMs },
    ...options.config,
  };
  let keys: Served['keys'] = [];
  const { server, baseUrl, sandbox, owner } = await openBehindSocket(
    { ...options, requests },
    async (more) => {
      const isNew = options.file !== ':memory:' && !existsSync(options.file);
      const opened = await openSandbox({ ...options, ...more, requests, config });
      if (options.scenario) keys = await loadScenario(opened, options, isNew);
      return opened;
    },
  );
  const stopTicking = tick(sandbox.service);
  return {
    keys,
    baseUrl,
    legacyBaseUrl: baseUrl,
    shopUrl: sandbox.service.config.shopUrl,
    consoleUrl: `${baseUrl}/${owner.code === undefined ? '' : `?${codeParameter}=${owner.code}`}`,
    token: owner.token,
    faults: sandbox.faults?.now.faults ?? [],
    service: sandbox.service,
    async close() {
      await Promise.all([stopTicking(), stop(server)]);
      await sandbox.close();
    },
  };
}

/** Loads a scenario. If the scenario is refused, closes the sandbox first. @throws the refusal. */
async function loadScenario(
  opened: OpenSandbox,
  { scenario, file }: Pick<ServeOptions, 'scenario' | 'file'>,
  isNew: boolean,
): Promise<Served['keys']> {
  if (!scenario) return [];
  const { playScenario } = await import('./scenarios/play.ts');
  try {
    return (await playScenario(opened.service, scenario, createApp)).keys;
  } catch (error) {
    // Don't leave a partly loaded scenario behind.
    const isHalf = error instanceof ScenarioRefused && file !== ':memory:';
    if (isHalf) await emptyStore(opened.service.store);
    await opened.close();
    if (isHalf && isNew) for (const path of filesOf(file)) rmSync(path, { force: true });
    throw error;
  }
}

interface BehindSocket {
  readonly server: Server;
  readonly baseUrl: string;
  readonly sandbox: OpenSandbox;
  readonly owner: Owner;
}

type WithSocket = Required<Pick<OpenOptions, 'baseUrl' | 'faults'>>;

/**
 * Opens a sandbox behind a socket. @param open opens the sandbox with the given address and faults.
 * @throws Error if the port is in use.
 */
export async function openBehindSocket(
  options: SocketOptions,
  open: (more: WithSocket) => Promise<OpenSandbox>,
): Promise<BehindSocket> {
  const server = createHttpServer();
  await listen(server, options.port, options.host);
  const baseUrl = addressOf(server, options.host);
  try {
    const { faults: given = [], seed = 0 } = options;
    const sandbox = await open({
      baseUrl,
      faults: (store) => new SandboxFaults(store, { faults: given, seed }),
    });
    const { faults, handle } = sandbox;
    if (!faults) throw new Error('it was opened without its faults');
    refuseConnections(server, faults.isRefused);
    const owner = new Owner(Number(new URL(baseUrl).port || 80), options.users);
    respondWith(server, { ...options, findRoute, owner, draw: faults.draw, handle });
    return { server, baseUrl, sandbox, owner };
  } catch (error) {
    await stop(server);
    throw error;
  }
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
