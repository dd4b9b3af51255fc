import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addressProblems, emailProblem } from '../../../src/orders/addresses/options.ts';
import { errand, shell } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const flags = (more: Record<string, string> = {}): string[] =>
  Object.entries({
    'first-name': 'Ada',
    'last-name': 'Byron',
    'address-line1': '1 Main St',
    city: 'Austin',
    state: 'TX',
    'postal-code': '78701',
    country: 'US',
    'phone-number': '5125550100',
    ...more,
  }).flatMap(([name, value]) => [`--${name}`, value]);
const add = (name: string, more: Record<string, string> = {}, ...rest: string[]) =>
  errand(workspace, ['address', 'add', name, ...flags(more), ...rest]);
const saved = async (name: string) =>
  JSON.parse((await errand(workspace, ['address', 'show', name, '-o', 'json'])).stdout);

describe('a saved address', () => {
  test('is not replaced unasked, changed by update, replaced by --replace', async () => {
    expect((await add('home')).code).toBe(0);
    const refused = await add('home', { city: 'Houston' });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('there is an address home already; nothing was changed');
    expect(await saved('home')).toMatchObject({ city: 'Austin' });
    const part = await errand(workspace, ['address', 'add', 'home', '--city', 'Houston', '--replace']);
    expect(part.code).toBe(2);
    expect(part.stderr).toContain('--first-name: Field required');
    expect((await errand(workspace, ['address', 'update', 'home', '--city', 'Dallas'])).code).toBe(0);
    expect(await saved('home')).toMatchObject({ city: 'Dallas', first_name: 'Ada' });
    expect((await add('home', { city: 'Houston' }, '--replace')).code).toBe(0);
    expect(await saved('home')).toMatchObject({ city: 'Houston' });
    const unknown = await errand(workspace, ['address', 'update', 'work', '--city', 'Dallas']);
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain('there is no address "work"');
  });

  test('is lost to none of many that are saved at once under one name', async () => {
    const ended = await Promise.all(
      Array.from({ length: 6 }, (_, index) => add('home', { city: `City${index}` })),
    );
    expect(ended.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(ended.filter(({ code }) => code === 2)).toHaveLength(5);
  });

  test('takes the place of the sandbox example, which no live order is sent to', async () => {
    await errand(workspace, ['order', 'list']);
    expect(await saved('home')).toMatchObject({ last_name: 'Example' });
    const order = `errand order create --product https://shop.example/p --max-price '$50' --yes`;
    const live = `ERRAND_API_KEY=xx_live_0123456789abcdef0123 ERRAND_BASE_URL=https://service.example`;
    for (const line of [`${live} ${order}`, `${live} ${order} --ship-to home`]) {
      const refused = await shell(workspace, line);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("the address home is the sandbox's example");
    }
    expect((await add('home')).code).toBe(0);
    expect(await saved('home')).toMatchObject({ last_name: 'Byron' });
    expect((await add('home')).code).toBe(2);
  });

  test.each([
    ['phone-number', 'call me', '--phone-number: "call me" is not a phone number'],
    ['phone-number', '123', 'is not a phone number: 7 to 15 digits'],
    ['phone-number', '5.12555E+09', 'is not a phone number'],
    ['state', 'Bavaria', '--state: "Bavaria" is not a US state; write its two letters, such as TX'],
    ['state', 'ZZ', '"ZZ" is not a US state'],
    ['country', 'USA', '--country'],
    ['postal-code', '787', '--postal-code'],
  ])('with --%s %j is refused, and nothing is saved', async (name, value, message) => {
    for (const command of [
      ['address', 'add', 'work'],
      ['order', 'create', '--product', 'https://shop.example/p', '--max-price', '$50', '--dry-run'],
    ]) {
      const refused = await errand(workspace, [...command, ...flags({ [name]: value })]);
      expect(refused).toMatchObject({ code: 2, stdout: '' });
      expect(refused.stderr).toContain(message);
    }
    expect((await errand(workspace, ['address', 'list', '-o', 'id'])).stdout).toBe('');
  });
});

test.each(['+1 (512) 555-0100', '512.555.0100 x12', '030/123 456', '+49 30 1234567', '+15125550100'])(
  '%s is a phone number',
  (phone_number) => {
    expect(addressProblems({ phone_number })).toEqual([]);
  },
);

test('a state is checked in the US alone, by its code or name in any case', () => {
  expect(addressProblems({ state: 'texas', country: 'us' })).toEqual([]);
  expect(addressProblems({ state: 'pr', country: 'US' })).toEqual([]);
  expect(addressProblems({ state: 'BY', country: 'DE' })).toEqual([]);
  expect(addressProblems({ state: 'BY', country: 'US' })).toHaveLength(1);
});

test.each(['nobody', 'a@b', 'a b@c.de', 'a@@b.de', '@b.de', 'a@b.', `${'a'.repeat(400)}@b.de`])(
  'account add refuses %j for an email',
  async (email) => {
    expect(emailProblem(email)).toBeDefined();
  },
);

test('account add and update refuse what is no email address before they ask for a secret', async () => {
  for (const args of [
    ['add', '--email', 'nobody'],
    ['update', 'xx_acct_1', '--email', 'nobody'],
  ]) {
    const refused = await errand(workspace, ['account', ...args, '--password-file', '-'], {
      stdin: 'secret',
    });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--email: "nobody" is not an email address');
  }
});
