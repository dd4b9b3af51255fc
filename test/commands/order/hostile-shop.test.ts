import { afterAll, beforeAll, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { errand, type Finished } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(() => {
  workspace = makeWorkspace();
});
afterAll(() => workspace.remove());

const exec = (line: string): Promise<Finished> =>
  errand(workspace, ['sandbox', 'exec', '--scenario', 'hostile', '--speed', '50', '--', 'sh', '-c', line]);

/**
 * Characters that move the cursor, set colors, ring the bell or change text direction; only line breaks are allowed.
 */
const active = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\ufeff]/;

const searches = ['plain towel', 'honest coffee beans', 'mirror lamp', 'bait kettle', 'miracle desk fan'];

test('its listings come through every search, and are inert wherever they are shown', async () => {
  const shown = await exec(searches.map((words) => `errand search '${words}' --limit 50`).join('; '));
  expect([shown.code, shown.stderr]).toEqual([0, '']);
  expect(shown.stdout).not.toMatch(active);
  const towels = "errand search 'plain towel' --limit 50";
  const { stdout } = await exec(`${towels} -o json --query '[].title'; ${towels} -o csv --fields title`);
  const [json = '', csv = ''] = stdout.split(/(?<=^\])\n/m);
  const titles: string[] = JSON.parse(json);
  // Machine-readable formats keep them unchanged.
  expect(titles.filter((title) => active.test(title)).length).toBeGreaterThan(6);
  expect(csv.split('\n').length).toBeGreaterThan(titles.length);
  expect(csv.split('\n').filter((line) => /^"?[=+@-]/.test(line))).toEqual([]);
});

test('of a product the details, the offers and the retailer search show it too, and nothing that it says is done', async () => {
  const found = await exec("errand search 'mirror lamp' --retailer stallandbarrow -o json --query '[].url'");
  const urls: string[] = JSON.parse(found.stdout);
  const lines = urls
    .slice(0, 4)
    .flatMap((url) => [`errand product get '${url}'`, `errand product offers '${url}'`]);
  lines.push("errand product search 'honest coffee' --retailer stallandbarrow");
  const after = [
    "errand order list -o json --query 'length(@)'",
    `${lines[1]} -o json --query '[].seller.name'`,
  ];
  const { stdout, stderr } = await exec([...lines, 'echo AFTER', ...after].join('; '));
  const [shown = '', told = ''] = stdout.split('AFTER\n');
  expect(shown + stderr).not.toMatch(active);
  expect(shown).toContain('Trading');
  const [orders, ...offers] = told.split('\n');
  expect(orders).toBe('0');
  // Machine-readable formats distinguish sellers that look alike.
  const names: string[] = JSON.parse(offers.join('\n'));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeGreaterThan(7);
});

test("a price that moves between quote and checkout fails at the order's ceiling, and costs nothing", async () => {
  const list = await exec("errand search 'bait kettle whistling' --limit 50 -o json");
  const baits = (JSON.parse(list.stdout) as { title: string; url: string; price: number }[]).filter(
    ({ title }) => title.startsWith('Bait Kettle'),
  );
  expect(baits).toHaveLength(4);
  const body = orderBody('URL');
  for (const { url, price } of baits) {
    const order = JSON.stringify({ ...body, products: [{ url, quantity: 1 }], max_price: price });
    const placed = await exec(
      `echo '${order}' | errand order create --file - --watch -o json --query '[status,job_result.error_type]'; echo "exit $?"; errand wallet -o json --query '[balance,spendable_balance]'`,
    );
    const [result = '', wallet = ''] = placed.stdout.split('exit 7\n');
    expect(JSON.parse(result)).toEqual(['order_failed', 'max_price_exceeded']);
    expect(JSON.parse(wallet)).toEqual([100_000, 100_000]);
  }
  const [bait] = baits;
  const enough = JSON.stringify({ ...body, products: [{ url: bait?.url, quantity: 1 }], max_price: 50_000 });
  const bought = await exec(
    `echo '${enough}' | errand order create --file - --watch -o json --query 'job_result.price_components.total'`,
  );
  expect(Number(bought.stdout)).toBeGreaterThan(bait?.price ?? 0);
});

test('it is the same for a seed, and another for another', async () => {
  const prices = async (seed: string): Promise<string> =>
    (
      await errand(workspace, [
        ...['sandbox', 'exec', '--scenario', 'hostile', '--seed', seed, '--'],
        ...['errand', 'search', 'bait kettle', '--limit', '10', '-o', 'json', '--query', '[].[title,price]'],
      ])
    ).stdout;
  expect(await prices('3')).toBe(await prices('3'));
  expect(await prices('3')).not.toBe(await prices('4'));
});
