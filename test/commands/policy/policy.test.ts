import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { address, orderBody } from '../../support/order-body.ts';
import { errand, type Finished } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let service: TestService;
let workspace: Workspace;

beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});

const policyFile = (): string => join(workspace.folder, '.config', 'policy.yaml');

function policy(text: string): string {
  mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
  writeFileSync(policyFile(), `version: 1\n${text}\n`, { mode: 0o600 });
  return policyFile();
}

/** Builds an order with this ceiling, in cents; the $1.00 fee is added to it. */
const order = (cents: number, more: object = {}, slug = 'test-success'): string[] => {
  const body = { ...orderBody(service.product(slug)), max_price: cents, ...more };
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(body));
  return ['order', 'create', '--file', 'order.json', '--new', '-o', 'json'];
};

const create = (...given: Parameters<typeof order>): Promise<Finished> => errand(workspace, order(...given));

const ordersMade = async (): Promise<number> => (await service.send('GET', '/orders')).body.orders.length;

const errorOf = ({ stderr }: Finished) =>
  JSON.parse(stderr.split('\n').find((line) => line.startsWith('{"error"')) ?? '{}').error;

const used = async (...args: string[]): Promise<number> =>
  JSON.parse((await errand(workspace, ['policy', 'usage', '-o', 'json', ...args])).stdout)[0].used_cents;

describe('an order is held to the policy, to the cent', () => {
  test.each([
    ['per_order', 'limits:\n  per_order: $51', 5000],
    ['per_day', 'limits:\n  per_day: $51', 5000],
    ['per_month', 'limits:\n  per_month: $51', 5000],
    ['per_order of a host', 'per:\n  - { retailer: 127.0.0.1, per_order: $51 }', 5000],
    ['per_day of metadata', 'per:\n  - { metadata: { team: office }, per_day: $51 }', 5000],
  ])('%s', async (_, text, most) => {
    policy(text);
    const refused = await create(most + 1, { metadata: { team: 'office' } });
    expect(refused.code).toBe(11);
    const error = errorOf(refused);
    expect(error).toMatchObject({
      category: 'policy',
      code: 'policy_refused',
      outcome: 'not_sent',
      exit_code: 11,
    });
    expect(error.details.policy).toMatchObject({ outcome: 'refused', amount_cents: most + 101 });
    expect(error.details.policy.rules[0]).toMatchObject({ limit_cents: 5100, left_cents: 5100 });
    expect(await ordersMade()).toBe(0);
    expect(await create(most, { metadata: { team: 'office' } })).toMatchObject({ code: 0 });
  });

  test('what a limit is about leaves the rest alone', async () => {
    policy(
      'per:\n  - { retailer: shop.example, per_order: $1 }\n  - { metadata: { team: office }, per_day: $1 }',
    );
    expect(await create(5000)).toMatchObject({ code: 0 });
    expect(await create(5000, { metadata: { team: 'lab' } })).toMatchObject({ code: 0 });
  });

  test.each([
    ['quantity_per_line', 'limits:\n  quantity_per_line: 2', 2, 3],
    ['countries', 'countries: [US, DE]', 'US', 'IT'],
    ['urls', 'urls: { deny: ["*/TEST-S*low*"] }', 'test-success', 'test-slow'],
  ] as const)('%s', async (_, text, good, bad) => {
    policy(text);
    const given = (value: string | number): Parameters<typeof order> => {
      if (typeof value === 'number')
        return [9000, { products: [{ url: service.product('test-success'), quantity: value }] }];
      if (value.length > 2) return [5000, {}, value];
      const country = value;
      return [
        5000,
        { shipping_address: { ...address, country, ...(country !== 'US' && { postal_code: '00100' }) } },
      ];
    };
    expect(await create(...given(bad))).toMatchObject({ code: 11 });
    expect(await ordersMade()).toBe(0);
    expect(await create(...given(good))).toMatchObject({ code: 0 });
  });

  test('retailers, by host and by the name that the service knows', async () => {
    const search = ['search', 'coffee', '--limit', '20', '-o', 'json', '--fields', 'url,retailer'];
    const found: { url: string; retailer: string }[] = JSON.parse((await errand(workspace, search)).stdout);
    const named = found.find(({ retailer }) => !retailer.includes('.'));
    if (!named) return expect.fail('no retailer with a name');
    const at = { products: [{ url: named.url }] };
    policy(`retailers: { deny: [${named.retailer}] }`);
    const denied = await create(9000, at);
    expect([denied.code, errorOf(denied).message]).toEqual([
      11,
      expect.stringContaining(`${named.retailer} is denied`),
    ]);
    expect(await create(9000)).toMatchObject({ code: 0 });
    policy(`retailers: { allow: [${named.retailer}] }`);
    const unknown = await create(9000);
    expect([unknown.code, errorOf(unknown).message]).toEqual([
      11,
      expect.stringContaining('127.0.0.1 is not among'),
    ]);
    expect(
      await create(9000, { products: [{ url: named.url }, { url: service.product('test-success') }] }),
    ).toMatchObject({
      code: 11,
    });
    policy(`retailers: { allow: [${new URL(named.url).hostname.replace(/^www\./, '')}] }`);
    expect(await create(9000)).toMatchObject({ code: 11 });
  });

  test('another spelling of a retailer is no way round', async () => {
    const search = ['search', 'coffee', '--limit', '20', '-o', 'json', '--fields', 'url,retailer'];
    const found: { url: string; retailer: string }[] = JSON.parse((await errand(workspace, search)).stdout);
    const named = found.find(({ retailer }) => !retailer.includes('.'));
    if (!named) return expect.fail('no retailer with a name');
    const { host, pathname } = new URL(named.url);
    const refused = async (url: string): Promise<string> => {
      const ended = await create(9000, { products: [{ url }] });
      expect(ended.code).toBe(11);
      return errorOf(ended).message;
    };
    policy(`retailers: { deny: [${named.retailer}] }`);
    expect(await refused(`https://${host}.${pathname}`)).toContain(`${named.retailer} is denied`);
    policy(`per:\n  - { retailer: ${named.retailer}, per_order: $2 }`);
    expect(await refused(`https://${host}.${pathname}`)).toContain('$2.00 for an order');
    policy(`retailers: { allow: [${named.retailer}] }`);
    expect(await refused(`https://${host}\\@evil.example/`)).toContain('can be read as more than one host');
    expect(await refused(`https://${named.retailer}/p`)).toContain('is not among');
    policy(`retailers: { deny: [${named.retailer}s] }`);
    expect(await refused(named.url)).toContain(
      `no retailer "${named.retailer}s"; did you mean ${named.retailer}?`,
    );
    expect(await ordersMade()).toBe(0);
  });

  test('two lines of one product are counted together', async () => {
    policy('limits: { quantity_per_line: 3 }');
    const url = service.product('test-success');
    const lines = (...quantities: number[]) => ({
      products: quantities.map((quantity) => ({ url, quantity })),
    });
    expect(await create(20_000, lines(2, 2))).toMatchObject({ code: 11 });
    expect(await create(20_000, lines(2, 1))).toMatchObject({ code: 0 });
  });

  test('an amount that a person must approve', async () => {
    policy('approve: { above: $51 }');
    const refused = await create(5001);
    expect(refused.code).toBe(11);
    expect(errorOf(refused)).toMatchObject({
      code: 'approval_required',
      details: { policy: { outcome: 'needs_approval' } },
    });
    expect(await create(5000)).toMatchObject({ code: 0 });
  });

  test.each([
    ['refuse', 11],
    ['approve', 11],
    ['warn', 0],
  ])('the same product to the same address again: %s', async (then, code) => {
    policy(`duplicates: { same: [product, address], within: 7d, then: ${then} }`);
    expect(await create(5000)).toMatchObject({ code: 0 });
    const again = await create(6000, { po_number: 'another' });
    expect(again.code).toBe(code);
    expect(again.stderr).toContain('the same product and the same address as');
    expect(
      await create(5000, { shipping_address: { ...address, address_line1: '2 Main St' } }),
    ).toMatchObject({ code: 0 });
  });

  test('the same product and recipient in another spelling are the same; another variant or recipient is not', async () => {
    policy('duplicates: { same: [product, address], within: 7d, then: refuse }');
    expect(await create(5000)).toMatchObject({ code: 0 });
    const url = `${service.product('test-success')}/?utm_source=mail#reviews`;
    const respelled = {
      ...{ first_name: address.first_name.toUpperCase(), address_line1: '1 main street' },
      ...{ postal_code: `${address.postal_code}-0001`, phone_number: '(512) 555-0100' },
    };
    const again = await create(5100, {
      products: [{ url }],
      shipping_address: { ...address, ...respelled },
    });
    expect([again.code, errorOf(again)?.code]).toEqual([11, 'policy_refused']);
    const variant = [{ label: 'Size', value: 'L' }];
    expect(
      (await create(5000, { products: [{ url: service.product('test-success'), variant }] })).code,
    ).not.toBe(11);
    const other = { ...address, first_name: 'Grace' };
    expect(await create(5000, { shipping_address: other })).toMatchObject({ code: 0 });
  });

  test('an order that failed is no duplicate, and nobody is asked about it', async () => {
    policy('duplicates: { same: [product, address], within: 7d, then: approve }');
    expect(await create(5000, {}, 'test-out-of-stock')).toMatchObject({ code: 0 });
    expect(await create(5000, {}, 'test-out-of-stock')).toMatchObject({ code: 11 });
    service.pass(60_000);
    expect(await create(5000, {}, 'test-out-of-stock')).toMatchObject({ code: 0 });
    service.pass(60_000);
    const { code, stderr } = await create(5000, {}, 'test-out-of-stock');
    expect(code, stderr).toBe(0);
  });
});

describe('what is reserved', () => {
  test('a day fills up, and what an order came to makes room again', async () => {
    policy('limits:\n  per_day: $110');
    expect(await create(5000)).toMatchObject({ code: 0 });
    expect(await used()).toBe(5100);
    expect(await create(5800)).toMatchObject({ code: 0 });
    // The ceilings fill the limit to the cent; the actual costs, which are now read, leave ample room.
    service.pass(60_000);
    expect(await create(5000, {}, 'test-slow')).toMatchObject({ code: 0 });
    expect(await used()).toBeLessThan(5100 + 5900);
    expect(await create(9000)).toMatchObject({ code: 11 });
  });

  test.each([
    ['refused by the service', 'test-invalid-address', [6, 2, 1, 5, 7]],
    ['failed', 'test-out-of-stock', [0]],
  ])('an order that was %s gives its money back', async (_, slug, codes) => {
    policy('limits:\n  per_day: $60');
    expect(codes).toContain((await create(5000, {}, slug)).code);
    service.pass(60_000);
    expect(await create(5900)).toMatchObject({ code: 0 });
  });

  test('a cancelled order gives its money back', async () => {
    policy('limits:\n  per_day: $60');
    const { id } = JSON.parse((await create(5000, {}, 'test-slow')).stdout);
    expect(await create(5900)).toMatchObject({ code: 11 });
    expect(await errand(workspace, ['order', 'cancel', id])).toMatchObject({ code: 0 });
    expect(await create(5900)).toMatchObject({ code: 0 });
  });

  test('what is in doubt or given up counts, and resuming it is never refused', async () => {
    policy('limits:\n  per_day: $60');
    const fault = readFault('reset-after@POST /orders');
    const broken = await TestService.start({ now: Date.now(), faults: fault ? [fault] : [] });
    onTestFinished(() => broken.stop());
    const there = ['--base-url', broken.baseUrl, '--retries', '0'];
    workspace.environment.ERRAND_API_KEY = broken.key;
    const doubt = await errand(workspace, [...order(5000), ...there]);
    expect(doubt.code).toBe(10);
    const { idempotency_key: key } = errorOf(doubt);
    const here = async () => {
      workspace.environment.ERRAND_API_KEY = service.key;
      return (await create(900)).code;
    };
    expect(await here()).toBe(11);
    policy('limits:\n  per_day: $1');
    workspace.environment.ERRAND_API_KEY = broken.key;
    const resumed = await errand(workspace, ['order', 'journal', 'resume', key, ...there]);
    // Resent and in doubt again: the policy did not prevent the attempt to settle it.
    expect(resumed).toMatchObject({ code: 10, stderr: expect.stringContaining('may have taken effect') });
    policy('limits:\n  per_day: $60');
    expect(await used()).toBe(5100);
    expect(await here()).toBe(11);
  });

  test('the same key again adds nothing', async () => {
    policy('limits:\n  per_day: $60');
    const args = order(5000, { idempotency_key: 'the-same' }).filter((word) => word !== '--new');
    expect(await errand(workspace, args)).toMatchObject({ code: 0 });
    expect(await errand(workspace, args)).toMatchObject({ code: 0 });
    expect(await used()).toBe(5100);
    expect(await ordersMade()).toBe(1);
  });

  test('a day ends in the time zone of the policy', async () => {
    policy('time_zone: Pacific/Kiritimati\nlimits:\n  per_day: $60');
    const [{ resets_at: resets }] = JSON.parse(
      (await errand(workspace, ['policy', 'usage', '-o', 'json'])).stdout,
    );
    expect(resets).toMatch(/T10:00:00\.000Z$/);
    const preload = fileURLToPath(new URL('../../support/clock-set.cjs', import.meta.url));
    const at = (ms: number): void => {
      workspace.environment.NODE_OPTIONS = `--require ${preload}`;
      workspace.environment.CLOCK_SET_MS = String(ms - Date.now());
      workspace.environment.CLOCK_SET_AFTER_MS = '-1';
    };
    const end = Date.parse(resets);
    at(end - 60_000);
    expect(await create(5000, {}, 'test-slow')).toMatchObject({ code: 0 });
    expect(await create(5000, {}, 'test-slow')).toMatchObject({ code: 11 });
    at(end + 1000);
    expect(await create(5000, {}, 'test-slow')).toMatchObject({ code: 0 });
  });

  test('rehearsals are counted apart, or exempt', async () => {
    policy('limits:\n  per_order: $1\nrehearsals: exempt');
    expect(await create(5000)).toMatchObject({ code: 0 });
    policy('limits:\n  per_day: $60');
    expect(await used()).toBe(0);
    expect(await used('--live')).toBe(0);
    expect(await create(5000, {}, 'test-slow')).toMatchObject({ code: 0 });
    expect([await used(), await used('--live')]).toEqual([5100, 0]);
  });
});

describe('a policy that cannot be used stops every order', () => {
  test.each([
    [
      'an unknown word',
      () => policy('limit:\n  per_order: $1'),
      'line 2: "limit" is not known; did you mean limits?',
    ],
    ['what is no YAML', () => policy('limits: {'), 'policy.yaml, line'],
    ['an empty file', () => writeFileSync(policy(''), ''), 'a policy is a map'],
    [
      'what others may write',
      () => chmodSync(policy(''), 0o622),
      'can be changed by other users (mode 0622)',
    ],
    ['no text', () => writeFileSync(policy(''), Buffer.from([0xff, 0xfe, 0xff])), 'is not UTF-8 text'],
    ['a folder', () => mkdirSync(policyFile(), { recursive: true }), 'is a folder, not a file'],
    [
      'a link that leads nowhere',
      () => {
        policy('');
        rmSync(policyFile());
        symlinkSync('/nowhere/policy.yaml', policyFile());
      },
      'cannot be read (there is no such file or folder)',
    ],
    [
      'a folder in which others may put another file',
      () => {
        const folder = join(workspace.folder, 'shared', 'inner');
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(join(folder, 'policy.yaml'), 'version: 1\nlimits: { per_order: $1 }\n', {
          mode: 0o600,
        });
        chmodSync(join(workspace.folder, 'shared'), 0o777);
        rmSync(policy(''));
        symlinkSync(join(folder, 'policy.yaml'), policyFile());
      },
      'shared can be changed by other users (mode 0777)',
    ],
    [
      'a name that is nearly right',
      () => renameSync(policy('limits: { per_order: $1 }'), policyFile().replace('.yaml', '.yml')),
      'and there is ',
    ],
    [
      'a file that the environment names, and that is not there',
      () => {
        workspace.environment.ERRAND_POLICY = join(workspace.folder, 'none.yaml');
      },
      'which ERRAND_POLICY names as the policy, does not exist',
    ],
  ])('%s', async (_, arrange, message) => {
    arrange();
    const ended = await create(100);
    expect(ended.code).toBe(11);
    expect(errorOf(ended)).toMatchObject({
      category: 'policy',
      code: 'policy_unusable',
      outcome: 'not_sent',
    });
    expect(errorOf(ended).message).toContain(message);
    expect(await ordersMade()).toBe(0);
    expect(await errand(workspace, ['policy', 'show'])).toMatchObject({ code: 11 });
    const doctor = JSON.parse((await errand(workspace, ['doctor', '-o', 'json'])).stdout);
    expect(doctor).toContainEqual(expect.objectContaining({ check: 'policy', status: 'trouble' }));
    expect(await errand(workspace, ['order', 'list'])).toMatchObject({ code: 0 });
  });

  test.each([
    ['a word that is not known', 'limit:\n  per_order: $1', /^Correct that line\. Until then/],
    [
      'a brace that stays open',
      'limits: { per_order: $1',
      /^Correct that line\. The mistake may also be above it: .*brace/,
    ],
  ])('%s: the hint says what to do', async (_, text, hint) => {
    policy(text);
    const error = errorOf(await create(100));
    expect(error.hint).toMatch(hint);
    expect(error.next[0].command).toBe('errand help policy');
    chmodSync(policy('limits: { per_order: $1 }'), 0o622);
    expect(errorOf(await create(100)).hint).toMatch(/only its owner may change/);
  });

  test('the working folder is never looked at, and a relative path is refused', async () => {
    writeFileSync(join(workspace.folder, 'policy.yaml'), 'version: 1\nlimits:\n  per_order: $0.01\n');
    expect(await create(5000)).toMatchObject({ code: 0 });
    workspace.environment.ERRAND_POLICY = 'policy.yaml';
    const { code, stderr } = await create(5000);
    expect([code, stderr]).toEqual([2, expect.stringContaining('ERRAND_POLICY must be an absolute path')]);
    workspace.environment.ERRAND_POLICY = '';
    expect(await create(5000)).toMatchObject({ code: 2, stderr: expect.stringContaining('is empty') });
  });

  test('a profile names its own', async () => {
    const file = join(workspace.folder, 'strict.yaml');
    writeFileSync(file, 'version: 1\nlimits:\n  per_order: $1\n', { mode: 0o644 });
    const set = ['profile', 'set', 'strict', '--base-url', service.baseUrl, '--policy', 'strict.yaml'];
    expect(await errand(workspace, set)).toMatchObject({ code: 0 });
    const refused = await errand(workspace, [...order(5000), '--profile', 'strict']);
    expect([refused.code, errorOf(refused).hint]).toEqual([11, expect.stringContaining(file)]);
    expect(await create(5000)).toMatchObject({ code: 0 });
    const again = ['profile', 'set', 'strict', '--default-policy'];
    expect(await errand(workspace, again)).toMatchObject({ code: 0 });
    expect(await errand(workspace, [...order(4000), '--profile', 'strict'])).toMatchObject({ code: 0 });
  });
});

describe('every door', () => {
  const csv = (count: number, cents: number): string[] => {
    const rows = Array.from(
      { length: count },
      (_, index) =>
        `${service.product('test-slow')},1,A B,${index} Main St,Austin,TX,78701,5125550100,${cents}`,
    );
    const headings = 'url,quantity,name,address,city,state,zip,phone,max_price_cents';
    writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
    return ['bulk', 'upload', 'orders.csv', '--batch-size', '2', '-o', 'json'];
  };

  test('an upload is placed whole or not at all', async () => {
    policy('limits:\n  per_batch: $55');
    expect(await errand(workspace, csv(5, 1001))).toMatchObject({ code: 11 });
    expect((await service.send('GET', '/orders/bulk')).body.batches).toEqual([]);
    expect(await errand(workspace, csv(5, 1000))).toMatchObject({ code: 0 });
    policy('limits:\n  per_day: $110');
    const refused = await errand(workspace, csv(11, 1000));
    expect(refused.code).toBe(11);
    expect(errorOf(refused).message).toContain('row 12, limits.per_day');
    expect(await errand(workspace, csv(5, 1000))).toMatchObject({ code: 0 });
    expect(await used()).toBe(5500);
  });

  test('rows that the service refuses are given back once a limit is reached', async () => {
    policy('limits:\n  per_day: $60');
    const args = csv(5, 1000);
    const text = [
      'url,quantity,name,address,city,state,zip,phone,max_price_cents',
      ...[1, 2, 3, 4, 5].map(
        (n) => `${service.product('test-out-of-stock')},1,A B,${n} Main St,Austin,TX,78701,5125550100,1000`,
      ),
      '',
    ].join('\n');
    writeFileSync(join(workspace.folder, 'orders.csv'), text);
    expect(await errand(workspace, args)).toMatchObject({ code: 0 });
    service.pass(600_000);
    expect(await create(5900)).toMatchObject({ code: 0 });
  });

  test('a request by hand, an order without an account, a retry of v1', async () => {
    policy('limits:\n  per_order: $50');
    order(5000, { idempotency_key: 'by-hand' });
    expect(await errand(workspace, ['api', 'POST', '/orders', '--input', 'order.json'])).toMatchObject({
      code: 11,
    });
    const body = { rows: [{ ...flatRow(), max_price: '5000' }] };
    writeFileSync(join(workspace.folder, 'rows.json'), JSON.stringify(body));
    expect(await errand(workspace, ['api', 'POST', '/orders/bulk', '--input', 'rows.json'])).toMatchObject({
      code: 11,
    });
    const paid = await errand(workspace, ['agent', ...order(5000), '--yes']);
    expect([paid.code, errorOf(paid).message]).toEqual([
      11,
      expect.stringContaining('$51.00 is more than $50.00'),
    ]);
    const retried = await errand(workspace, ['legacy', 'retry', '5b77d58f-14c4-4acd-be52-fb5537fb0abb']);
    expect([retried.code, retried.stderr]).toEqual([
      11,
      expect.stringContaining('does not say what it buys'),
    ]);
    expect(await ordersMade()).toBe(0);
    expect(await errand(workspace, ['agent', ...order(4900), '--yes'])).toMatchObject({ code: 0 });
  });

  const flatRow = () => ({
    product_url: service.product('test-slow'),
    name: 'A B',
    address: '1 Main St',
    city: 'Austin',
    state: 'TX',
    zip: '78701',
    phone: '5125550100',
  });

  test('--dry-run shows the verdict, and reserves nothing', async () => {
    policy('limits:\n  per_day: $60');
    const shown = await errand(workspace, [...order(5900), '--dry-run']);
    expect([shown.code, shown.stderr]).toEqual([
      0,
      expect.stringContaining('policy: allowed; limits.per_day: $0.00 of $60.00 left'),
    ]);
    const refused = await errand(workspace, [...order(5901), '--dry-run']);
    expect([refused.code, refused.stderr]).toEqual([
      11,
      expect.stringContaining('policy: refused: limits.per_day: it takes $60.01'),
    ]);
    expect(JSON.parse(refused.stdout).body.max_price).toBe(5901);
    expect(await used()).toBe(0);
    const curl = await errand(workspace, [...order(5901), '--curl']);
    expect(curl.stdout).toContain('max_price');
  });

  test('policy check names the rows of a file', async () => {
    policy('limits:\n  per_order: $20\n  per_day: $30');
    csv(3, 1000);
    const checked = await errand(workspace, ['policy', 'check', '--file', 'orders.csv', '-o', 'json']);
    expect(checked.code).toBe(11);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      outcome: 'refused',
      orders: 3,
      amount_cents: 3300,
      rows: [{ row: 4, rule: 'limits.per_day', outcome: 'refused', left_cents: 800 }],
    });
    csv(2, 1000);
    expect(await errand(workspace, ['policy', 'check', '--file', 'orders.csv'])).toMatchObject({ code: 0 });
    expect(await ordersMade()).toBe(0);
  });

  test('nobody overrides it without a terminal', async () => {
    policy('limits:\n  per_order: $1');
    const { code, stderr } = await errand(workspace, [...order(5000), '--override-policy', 'I may']);
    expect([code, stderr]).toEqual([
      11,
      expect.stringContaining('--override-policy works on a terminal only'),
    ]);
  });
});
