import { describe, expect, test } from 'vitest';
import { EgressGuard } from '../../../src/http/transport/network.ts';

const hosts = {
  internet: '93.184.216.34',
  network: '192.168.0.7',
  machine: '127.0.0.1',
  metadata: '169.254.169.254',
} as const;

/** Which hosts a link may lead to, given the address the service was reached at. */
function reachableFrom(...reached: readonly string[]): string[] {
  const inward = new EgressGuard();
  for (const address of reached) inward.reached(address);
  return Object.entries(hosts).flatMap(([name, address]) => {
    try {
      inward.checkLiteral(new URL(`http://${address}/label.pdf`));
      return [name];
    } catch {
      return [];
    }
  });
}

describe('a link that a service gives leads no further inward than the service itself', () => {
  test('from the internet', () => {
    expect(reachableFrom()).toEqual(['internet']);
    expect(reachableFrom(hosts.internet)).toEqual(['internet']);
  });

  test('from a private network', () => {
    expect(reachableFrom(hosts.network)).toEqual(['internet', 'network']);
  });

  test('from this machine', () => {
    expect(reachableFrom(hosts.machine)).toEqual(['internet', 'network', 'machine']);
    expect(reachableFrom(hosts.machine, hosts.internet)).toEqual(['internet', 'network', 'machine']);
  });

  test('by a name that is looked up, too', async () => {
    const inward = new EgressGuard();
    const looked = new Promise((resolve) => inward.foreignLookup('x.localhost', {}, resolve));
    expect(await looked).toMatchObject({
      sent: 'not_sent',
      message: expect.stringContaining('this machine'),
    });
  });
});
