import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { readFault } from '../../src/sandbox/server/faults.ts';
import { FaultProxy, type NetworkFault } from '../faults/proxy.ts';
import { orderBody } from './order-body.ts';
import { errand, type Finished } from './run.ts';
import { TestService } from './service.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

const clockSet = fileURLToPath(new URL('./clock-set.cjs', import.meta.url));

/** A service, a proxy that can lose responses, and a machine that orders through it. */
export interface Shopping {
  readonly workspace: Workspace;
  readonly service: TestService;
  /** Faults for the next creates, in order. */
  readonly losses: FaultProxy;
  /** Runs `errand order create`, always with the same order. */
  order(...more: readonly string[]): Promise<Finished>;
  run(...args: readonly string[]): Promise<Finished>;
  /** The orders that the service has. */
  orders(): Promise<{ readonly id: string; readonly max_price: number }[]>;
  /** Sets this machine's clock ahead, ms. */
  later(ms: number): void;
}

/** @param faults injected by the service itself. */
export async function shopping(...faults: readonly string[]): Promise<Shopping> {
  const service = await TestService.start({
    now: Date.now(),
    faults: faults.map((text) => readFault(text) ?? expect.fail(`${text} is no fault`)),
  });
  const losses = new FaultProxy(service.baseUrl);
  const workspace = makeWorkspace({
    ERRAND_NO_INPUT: '1',
    ERRAND_BASE_URL: await losses.start(),
    ERRAND_API_KEY: service.key,
  });
  onTestFinished(async () => {
    await losses.stop();
    await service.stop();
    workspace.remove();
  });
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify(orderBody(service.product('test-success'))),
  );
  const run = (...args: readonly string[]) => errand(workspace, args);
  return {
    workspace,
    service,
    losses,
    run,
    order: (...more) => run('order', 'create', '--file', 'order.json', '--retries', '0', ...more),
    orders: async () => (await service.send('GET', '/orders?limit=500')).body.orders,
    later: (ms) => clockLater(workspace, ms),
  };
}

/** Sets a machine's clock ahead, ms. */
export function clockLater({ environment }: Workspace, ms: number): void {
  environment.NODE_OPTIONS = `--require=${clockSet}`;
  environment.CLOCK_SET_MS = String(ms);
  environment.CLOCK_SET_AFTER_MS = '-1';
}

/** Injects faults into the responses of the next creates. */
export function lose(shop: Shopping, ...faults: readonly NetworkFault[]): void {
  shop.losses.faults = [...faults];
}

/** Parses the JSON error a run printed. */
export const errorOf = ({ stderr }: Finished) => JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;

/** Runs a command: the service processes one create, then is unreachable until the command has ended. */
export async function cutOff(shop: Shopping, command: () => Promise<Finished>): Promise<Finished> {
  const port = Number(new URL(shop.workspace.environment.ERRAND_BASE_URL ?? '').port);
  let stopped: Promise<void> | undefined;
  lose(shop, 'reset-after');
  shop.losses.onMoment = (moment) => {
    if (moment === 'work-done') stopped ??= shop.losses.stop();
  };
  const finished = await command();
  await stopped;
  shop.losses.onMoment = () => {};
  await shop.losses.start(port);
  return finished;
}
