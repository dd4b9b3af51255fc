import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { address } from '../../support/order-body.ts';
import { errorOf, type Shopping, shopping } from '../../support/shopping.ts';

type Action = 'refuse' | 'approve';

/** A shop with an order, and then a policy about duplicates. */
async function ordered(action: Action): Promise<Shopping> {
  const shop = await shopping();
  const folder = join(shop.workspace.folder, '.config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const rule = `duplicates: { same: [product, address], within: 7d, then: ${action} }`;
  writeFileSync(join(folder, 'policy.yaml'), `version: 1\n${rule}\n`, { mode: 0o600 });
  expect((await shop.order()).code).toBe(0);
  const { first_name, last_name, address_line1, city, state, postal_code, country, phone_number } = address;
  writeFileSync(
    join(shop.workspace.folder, 'orders.csv'),
    [
      'product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number',
      `${shop.service.product('test-success')},5000,${first_name} ${last_name},${address_line1},${city},${state},${postal_code},${country},${phone_number}`,
      '',
    ].join('\n'),
  );
  return shop;
}

const commandsOf = ({ next }: { readonly next: readonly { readonly command: string }[] }): string =>
  next.map(({ command }) => command).join('\n');

const hints: Readonly<Record<Action, RegExp>> = {
  refuse: /^The policy refuses another one whatever flag is given \(duplicates: .*policy\.yaml, line 2\)/,
  approve: /^The policy wants an approval for another one \(duplicates: .*policy\.yaml, line 2\)/,
};

test.each<Action>(['refuse', 'approve'])(
  'where the policy says %s, a duplicate is told so',
  async (action) => {
    const shop = await ordered(action);
    const refused = await shop.order('-o', 'json');
    expect(refused.code, refused.stderr).toBe(5);
    const error = errorOf(refused);
    expect(error).toMatchObject({ code: 'duplicate_alike', hint: expect.stringMatching(hints[action]) });
    expect(/--(?:new|reference)/.test(commandsOf(error))).toBe(action === 'approve');
    const upload = await shop.run('bulk', 'upload', 'orders.csv', '-o', 'json');
    expect(upload.code, upload.stderr).toBe(5);
    expect(errorOf(upload)).toMatchObject({ code: 'rows_alike', hint: expect.stringMatching(hints[action]) });
    expect(commandsOf(errorOf(upload)).includes('--run')).toBe(action === 'approve');
    const another = await shop.order('--new', '-o', 'json');
    expect(errorOf(another).code).toBe(action === 'refuse' ? 'policy_refused' : 'approval_required');
  },
);

test.each<Action>(['refuse', 'approve'])(
  'where the policy says %s, the same file again names another occasion only if that may be ordered',
  async (action) => {
    const shop = await ordered(action);
    const file = join(shop.workspace.folder, 'orders.csv');
    writeFileSync(file, readFileSync(file, 'utf8').replace(address.first_name, 'Grace'));
    expect((await shop.run('bulk', 'upload', 'orders.csv')).code).toBe(0);
    const again = await shop.run('bulk', 'upload', 'orders.csv');
    expect([again.code, again.stderr.includes('--run NAME')]).toEqual([0, action === 'approve']);
    const another = await shop.run('bulk', 'upload', 'orders.csv', '--run', 'december');
    expect(another.code, another.stderr).toBe(11);
  },
);

test('where the policy allows another one, the ways on are as without it', async () => {
  const shop = await ordered('refuse');
  writeFileSync(
    join(shop.workspace.folder, '.config', 'policy.yaml'),
    'version: 1\nlimits: { per_order: $500 }\n',
  );
  const error = errorOf(await shop.order('-o', 'json'));
  expect(commandsOf(error)).toContain('--new');
  expect(error.hint).toContain('is taken for a duplicate');
});
