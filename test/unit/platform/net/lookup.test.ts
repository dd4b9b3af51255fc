import { describe, expect, test } from 'vitest';
import {
  checkedLookup,
  isLoopback,
  listeningAddress,
  localLookup,
} from '../../../../src/platform/net/lookup.ts';

const found = (lookup: typeof localLookup, name: string, options = {}): Promise<unknown> =>
  new Promise((resolve, reject) => {
    lookup(name, options, (error, address) => (error ? reject(error) : resolve(address)));
  });

describe('names of this machine', () => {
  test.each(['localhost', 'a.localhost', 'a.b.LOCALHOST', 'localhost.'])(
    '%s is asked of nobody',
    async (name) => {
      expect(await found(localLookup, name, { all: true })).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ]);
      expect(await found(localLookup, name)).toBe('127.0.0.1');
      expect(await found(localLookup, name, { family: 6 })).toBe('::1');
      expect(isLoopback(name)).toBe(true);
    },
  );

  test.each(['notlocalhost', 'localhost.example', 'localhost.example.'])('%s is none', (name) => {
    expect(isLoopback(name)).toBe(false);
    expect(listeningAddress(name)).toBe(name);
  });

  test('listening on a name below localhost is listening on this machine', () => {
    expect(listeningAddress('api.localhost')).toBe('127.0.0.1');
  });
});

test('each address is checked, and one that is refused refuses the name', async () => {
  const seen: string[] = [];
  const strict = checkedLookup((address, name) => {
    seen.push(`${name} ${address}`);
    return address === '::1' ? new Error('not there') : undefined;
  });
  await expect(found(strict, 'x.localhost', { all: true })).rejects.toThrow('not there');
  expect(seen).toEqual(['x.localhost 127.0.0.1', 'x.localhost ::1']);
});
