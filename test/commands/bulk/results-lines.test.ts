import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FaultProxy, type NetworkFault } from '../../faults/proxy.ts';
import { hangsAfterMs } from '../../support/limits.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { beginUploads } from '../../support/uploads.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const headings = 'requisition,product_url,Limit,name,address,city,state,zip,phone,Land,note';
const maps = ['--map', 'Limit=max_price', '--map', 'Land=country'];

/** Kinds of lines of a file; a number is that of an earlier line which is repeated. */
const kinds = ['good', 'dear', 'sold out', 'invalid', 'refused', 'blank', 'sum', 'repeated'] as const;
type Kind = (typeof kinds)[number];

type Action =
  | { readonly do: 'upload'; readonly flags: readonly string[] }
  | { readonly do: 'plan'; readonly part: boolean }
  | { readonly do: 'cut'; readonly after: number; readonly fault: NetworkFault }
  | { readonly do: 'edit'; readonly at: number; readonly to: Kind }
  | { readonly do: 'grow'; readonly by: readonly Kind[] }
  | { readonly do: 'wait' }
  | { readonly do: 'retry' }
  | { readonly do: 'cancel' }
  | { readonly do: 'single'; readonly at: number };

const kind = fc.constantFrom(...kinds);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('upload' as const),
      flags: fc.subarray(['--skip-duplicates', '--again']),
    }),
  },
  fc.record({ do: fc.constant('plan' as const), part: fc.boolean() }),
  fc.record({
    do: fc.constant('cut' as const),
    after: fc.nat(2),
    fault: fc.constantFrom('500-before' as const, 'reset-after' as const),
  }),
  fc.record({ do: fc.constant('edit' as const), at: fc.nat(20), to: kind }),
  fc.record({ do: fc.constant('grow' as const), by: fc.array(kind, { minLength: 1, maxLength: 3 }) }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
  fc.record({ do: fc.constant('retry' as const) }),
  fc.record({ do: fc.constant('cancel' as const) }),
  fc.record({ do: fc.constant('single' as const), at: fc.nat(20) }),
);

test(
  'results of an upload have one line for each row of its file, in the order of the file, whatever happened',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(kind, { minLength: 1, maxLength: 9 }),
        fc.array(action, { minLength: 2, maxLength: 7 }),
        fc.boolean(),
        holds,
      ),
      { numRuns: Number(process.env.RESULTS_RUNS ?? 12) },
    );
    expect(compared).toBeGreaterThan(0);
  },
  hangsAfterMs,
);

let compared = 0;

async function holds(first: readonly Kind[], actions: readonly Action[], isReferenced: boolean) {
  const service = await TestService.start({ now: Date.now(), config: { startBalanceCents: 100_000_000 } });
  const proxy = new FaultProxy(service.baseUrl);
  const workspace = makeWorkspace({ ERRAND_BASE_URL: await proxy.start(), ERRAND_API_KEY: service.key });
  const run = (...args: string[]) => errand(workspace, args);
  const file = [...first];
  /** The lines that each upload was given. */
  const given = new Map<string, readonly string[]>();

  function lineOf(which: Kind, at: number): string {
    const line = (slug: string, cents: number, zip = '78701'): string =>
      `R-${at},${service.product(slug)},$${cents / 100}.00,Ada Byron,${at} Main St,Austin,TX,${zip},5125550100,USA,n${at}`;
    switch (which) {
      case 'dear':
        return line('test-price-exceeded', 5000);
      case 'sold out':
        return line('test-out-of-stock', 5000);
      case 'invalid':
        return line('test-success', 5000, '787');
      case 'refused':
        return line('no-such/thing', 5000).replace('/shop/', '/none/');
      case 'blank':
        return ',,,,,,,,,,';
      case 'sum':
        return ',,,,,,,,,,of all';
      case 'repeated':
        return isReferenced
          ? line('test-success', 5000)
          : line('test-success', 5000).replace(`${at} Main`, '0 Main');
      default:
        return line('test-success', 5000);
    }
  }

  async function upload(args: readonly string[]): Promise<void> {
    const lines = file.map(lineOf);
    writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...lines, ''].join('\n'));
    const before = await names();
    const references = isReferenced ? ['--reference-column', 'requisition'] : [];
    const [verb = '', ...more] = args;
    const reading = [...maps, ...references];
    await run('bulk', verb, 'orders.csv', '--skip-invalid', '--batch-size', '2', ...reading, ...more);
    if (verb === 'plan') return;
    note(before, await names(), lines);
  }

  /** The upload that is new has these lines; else one that goes on has them. */
  function note(before: readonly Named[], after: readonly Named[], lines: readonly string[]): void {
    for (const { name, sent } of after) {
      const known = before.find((one) => one.name === name);
      if (!known || (known.sent !== sent && !given.has(name))) given.set(name, lines);
    }
  }

  interface Named {
    readonly name: string;
    readonly sent: number;
  }
  const names = async (): Promise<readonly Named[]> =>
    JSON.parse((await run('bulk', 'uploads', '-o', 'json')).stdout || '[]');

  async function act(one: Action): Promise<void> {
    switch (one.do) {
      case 'upload':
        return upload(['upload', ...one.flags]);
      case 'plan': {
        await upload(['plan', '--out', 'a.plan', '--force', '--no-prices', '--skip-duplicates']);
        const before = await names();
        await run('bulk', 'apply', 'a.plan', ...(one.part ? ['--shard', '1/2'] : []));
        note(before, await names(), file.map(lineOf));
        return;
      }
      case 'cut':
        // The upload is cut short, before the service takes a batch or after.
        proxy.faults = [...Array(one.after).fill('none'), ...Array(9).fill(one.fault)];
        await upload(['upload', '--retries', '0']);
        proxy.faults = [];
        return;
      case 'edit':
        if (file.length > 0) file[one.at % file.length] = one.to;
        return;
      case 'grow':
        file.push(...one.by);
        return;
      case 'wait':
        service.pass(60_000);
        return;
      case 'single': {
        const at = one.at % file.length;
        await service.order('test-success', { metadata: { errand_reference: `R-${at}` } });
        return;
      }
      default:
        for (const { name } of await names())
          await run('bulk', one.do, name, ...(one.do === 'cancel' ? ['--yes'] : []));
    }
  }

  try {
    for (const one of actions) {
      await act(one);
      for (const [name, lines] of given) {
        const { stdout, stderr } = await run('bulk', 'results', name);
        if (stdout === '') continue;
        const [head = [], ...rows] = parse(stdout) as string[][];
        const at = head.indexOf('row');
        const shown = rows.map((cells) => [cells[at], cells.slice(0, at).join(',')]);
        const last = lines.findLastIndex((line) => line !== lineOf('blank', 0));
        const begin = lines.findIndex((line) => line !== lineOf('blank', 0));
        const expected = lines.map((line, index) => [String(index + 2), line]).slice(begin, last + 1);
        expect(shown, stderr).toEqual(expected);
        compared += 1;
      }
    }
  } finally {
    workspace.remove();
    await proxy.stop();
    await service.stop();
  }
}

test('an own column that is headed as the price stays one, and the results are read back as their file was', async () => {
  const { bulk, workspace, service } = await beginUploads();
  const headings = 'product_url,Limit,max_price_cents,name,address,city,state,zip,phone';
  const row = `${service.product('test-success')},$50.00,77,Ada Byron,1 Main St,Austin,TX,78701,5125550100`;
  writeFileSync(join(workspace.folder, 'a.csv'), `${headings}\n${row}\n`);
  const reading = ['--map', 'Limit=max_price', '--own', 'max_price_cents'];
  const sent = await bulk('upload', 'a.csv', ...reading);
  expect(sent.code, sent.stderr).toBe(0);
  const { stdout } = await bulk('results', 'a', '-o', 'csv');
  expect(stdout.startsWith(`${headings},`)).toBe(true);
  expect(stdout).toContain(`\n${row},`);
  writeFileSync(join(workspace.folder, 'results.csv'), stdout);
  const again = await bulk('upload', 'results.csv', '--dry-run', ...reading);
  expect(again.stderr).toContain('1 placed already');
});

test('what errand fills in or reads in its own way stays in the results as the file writes it', async () => {
  const { bulk, workspace, service } = await beginUploads();
  const headings = 'product_url,max_price_cents,name,address,city,state,zip,country,phone,note';
  const cells = (zip: string, phone: string) =>
    `${service.product('test-success')},5000,Ada Byron,1 Main St,Austin,TX,${zip},United States,${phone},ä`;
  const rows = [cells("'78701", ''), cells('78702', '5125550101')];
  writeFileSync(join(workspace.folder, 'a.csv'), [headings, ...rows, ''].join('\n'));
  const more = ['--default', 'phone_number=5125550100', '--default', 'address_line2=Dock 4'];
  const sent = await bulk('upload', 'a.csv', ...more);
  expect(sent.code, sent.stderr).toBe(0);
  expect((await service.send('GET', '/orders/bulk')).body.batches).toHaveLength(1);
  const { stdout } = await bulk('results', 'a', '-o', 'csv');
  const [head, ...lines] = stdout.split('\n');
  // The file has no such column, so that it shows what was sent.
  expect(head?.startsWith(`${headings},address_line2,row,`)).toBe(true);
  for (const [at, row] of rows.entries()) expect(lines[at]?.startsWith(`${row},Dock 4,`)).toBe(true);
});
