import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json, peer } from '../../support/peer.ts';
import { errand, type Finished, shell } from '../../support/run.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

const page = 'https://www.harborgoods.example/p/mug/1';
const all = [
  `--product '${page},quantity=2,variant=Size:L,condition=New,not-condition=UsedGood' --product ${page}2`,
  "--max-price '$70' --gift --gift-message 'For Ada' --po-number P-1 --handling-days-max 3",
  '--metadata team=office --metadata-json n=7 --notify ada@example.com',
  '--best-effort gift,items --exclude-merchant "Dear & Co" --ship-to home',
].join(' ');

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const create = (more: string): Promise<Finished> => shell(workspace, `errand order create ${more}`);
const idOf = async (more: string): Promise<string> => (await create(`${more} -o id`)).stdout.trim();
const bodyOf = ({ stdout }: Finished) => JSON.parse(stdout).body;
const orders = async (): Promise<{ id: string }[]> =>
  JSON.parse((await errand(workspace, ['order', 'list', '-o', 'json'])).stdout);

describe('order create --like', () => {
  test('asks for all that the record holds of the earlier order, and says so', async () => {
    await errand(workspace, ['sandbox', 'mint']);
    const asked = bodyOf(await create(`${all} --dry-run`));
    const id = await idOf(all);
    prefer(workspace, { 'duplicate-window': '0' });
    const again = await create(`--like ${id} --dry-run`);
    const { idempotency_key: _, ...body } = bodyOf(again);
    const { idempotency_key: _key, ...before } = asked;
    expect(body).toEqual(before);
    expect(again.stderr.split('\n')).toEqual([
      `like order ${id}:`,
      `  2 x ${page} (Size: L, New, not UsedGood)`,
      `  1 x ${page}2`,
      '  ceiling                 $70.00',
      '  ship to                 Ada Example, 100 Congress Avenue, Austin TX 78701 US',
      '  metadata                team=office, n=7',
      '  po number               P-1',
      '  gift                    yes',
      '  gift message            For Ada',
      '  handling days at most   3',
      '  customer notifications  email=ada@example.com',
      '  fulfillment             gift=best_effort, items=best_effort, excluded_merchants=["Dear & Co"]',
      '',
    ]);
    const { stdout } = await create(`--like ${id} -o id`);
    const keys = (await errand(workspace, ['order', 'journal', 'list', '--all', '-o', 'id'])).stdout;
    expect(stdout.trim()).not.toBe(id);
    expect(new Set(keys.trim().split('\n')).size).toBe(2);
  });

  test('flags go before what the earlier order had', async () => {
    const id = await idOf(`--product ${page} --max-price '$70' --ship-to home --metadata team=office`);
    const flags = `--product ${page}9,quantity=3 --max-price '$80' --city Dallas --metadata job=4 --po-number P-2`;
    expect(bodyOf(await create(`--like ${id} ${flags} --dry-run`))).toMatchObject({
      products: [{ url: `${page}9`, quantity: 3 }],
      max_price: 8000,
      shipping_address: { city: 'Dallas', address_line1: '100 Congress Avenue' },
      metadata: { team: 'office', job: '4' },
      po_number: 'P-2',
    });
  });

  test('is the same order again within the duplicate window, also by two at once, and another with --new', async () => {
    const id = await idOf(`--product ${page} --max-price '$70' --ship-to home`);
    const repeated = await create(`--like ${id}`);
    expect(repeated).toMatchObject({ code: 5, stdout: '' });
    expect(repeated.stderr).toContain(`the same order was placed`);
    expect(repeated.stderr).toContain(`try: errand order create --like ${id} --new — for another order`);
    const line = `--like ${id} --product ${page}2`;
    const codes = (await Promise.all([create(line), create(line)])).map(({ code }) => code);
    expect(codes.sort()).toEqual([0, 5]);
    expect(await orders()).toHaveLength(2);
    expect((await create(`${line} --new`)).code).toBe(0);
    expect(await orders()).toHaveLength(3);
  });

  test('is held to the policy as every order is', async () => {
    const id = await idOf(`--product ${page} --max-price '$70' --ship-to home`);
    mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
    const policy = join(workspace.folder, '.config', 'policy.yaml');
    writeFileSync(policy, 'version: 1\nlimits: { per_order: $50 }\n', { mode: 0o600 });
    const refused = await create(`--like ${id} --new`);
    expect(refused.code).toBe(11);
    expect(await orders()).toHaveLength(1);
  });

  test('a payment by card is taken over; of a connected customer only flags can say who pays', async () => {
    const order = `--max-price '$70' --ship-to home --payment-mode`;
    const card = await idOf(`--product ${page} ${order} card --payment-method pm_1`);
    expect(bodyOf(await create(`--like ${card} --dry-run --new`)).payment).toEqual({
      mode: 'card',
      payment_method: 'pm_1',
    });
    const connect = await idOf(`--product ${page}3 ${order} connect --payment-customer cus_1 --margin 5%`);
    const refused = await create(`--like ${connect} --dry-run`);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('give --payment-mode connect with --payment-customer');
    const flags = '--payment-mode connect --payment-customer cus_2';
    expect(bodyOf(await create(`--like ${connect} ${flags} --dry-run`)).payment).toEqual({
      mode: 'connect',
      customer: 'cus_2',
    });
  });

  test.each([
    ['--like nonsense', 2, 'order id "nonsense" is not a UUID'],
    ['--like 00000000-0000-4000-8000-000000000001', 4, 'not_found'],
    ['--like 00000000-0000-4000-8000-000000000001 --file order.json', 2, '--like and --file exclude'],
    ['--like 00000000-0000-4000-8000-000000000001 --curl', 2, 'with --curl nothing is read'],
  ])('%s is refused', async (more, code, message) => {
    const refused = await create(more);
    expect(refused).toMatchObject({ code, stdout: '' });
    expect(refused.stderr).toContain(message);
  });

  describe('where the record says less', () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const address = {
      first_name: 'Ada\u001b[31m',
      last_name: 'Byron',
      address_line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postal_code: '78701',
      country: 'US',
      phone_number: '5125550100',
    };
    const record = {
      id,
      status: 'order_placed',
      max_price: 5000,
      items: [
        { url: page, quantity: 1 },
        { url: `${page}2`, quantity: 1 },
      ],
      shipping_address: address,
    };
    const like = async (odd: object, flags: string[] = []): Promise<Finished> => {
      await errand(workspace, ['sandbox', 'mint']);
      const { url } = await peer(json({ ...record, ...odd }));
      workspace.environment.ERRAND_API_KEY = 'xx_test_0123456789abcdef0123';
      return errand(workspace, ['order', 'create', '--like', id, '--dry-run', '--base-url', url, ...flags]);
    };

    test.each([
      [{ max_price: null }, '--max-price is missing'],
      [{ shipping_address: undefined }, 'has no address; say where to with --ship-to'],
      [{ shipping_address: { ...address, phone_number: null } }, '--phone-number'],
      [{ items: [] }, '--product is missing'],
      [
        { items: [{ url: page, quantity: 1 }, { quantity: 1 }] },
        'line 2 was; name the products with --product',
      ],
      [{ items: [{ url: page, quantity: 0 }] }, 'products.0.quantity (--product)'],
    ])('%j: the flag that gives it is named', async (odd, message) => {
      const refused = await like(odd);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(message);
    });

    test('a flag that is given fills it in, and no control character is shown', async () => {
      const { code, stderr } = await like({ items: [{}] }, ['--product', page]);
      expect(code).toBe(0);
      expect(stderr).toContain('Ada␛[31m Byron');
    });
  });
});
