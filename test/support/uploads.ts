import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { hangsAfterMs } from './limits.ts';
import { errand } from './run.ts';
import { TestService } from './service.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

export const headings = 'requisition,product_url,max_price_cents,name,address,city,state,zip,phone';

/** A service with a machine that orders from it. */
export async function beginUploads() {
  const service = await TestService.start({ now: Date.now(), config: { startBalanceCents: 100_000_000 } });
  const machine = (): Workspace => {
    const made = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
    onTestFinished(() => made.remove());
    return made;
  };
  onTestFinished(() => service.stop());
  const workspace = machine();
  const line = (at: number, slug: string, cents: number): string =>
    `R-${at},${service.product(slug)},${cents},Ada Byron,${at} Main St,Austin,TX,78701,5125550100`;
  const write = (file: string, lines: readonly string[], on = workspace): void =>
    writeFileSync(join(on.folder, file), [headings, ...lines, ''].join('\n'));
  const bulk = (...args: string[]) => errand(workspace, ['bulk', ...args]);
  async function statuses(): Promise<string[]> {
    const { stdout } = await errand(workspace, ['order', 'list', '--all', '-o', 'json']);
    return JSON.parse(stdout).map(({ status }: { status: string }) => status);
  }
  /** Waits until there are `count` orders, and all of them have ended. */
  const ended = (count: number) =>
    vi.waitFor(
      async () => {
        service.pass(60_000);
        const all = await statuses();
        const open = all.filter((status) => ['pending', 'in_progress'].includes(status));
        expect([all.length, open.length]).toEqual([count, 0]);
      },
      { timeout: hangsAfterMs },
    );
  const jsonOf = async (...args: string[]) => JSON.parse((await bulk(...args, '-o', 'json')).stdout);
  const live = async (): Promise<number> =>
    (await statuses()).filter((status) => !['order_failed', 'cancelled'].includes(status)).length;
  return { service, machine, workspace, line, write, bulk, ended, jsonOf, live };
}
