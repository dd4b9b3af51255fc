import { describe, expect, test } from 'vitest';
import { mayReach, refusedAddress } from '../../../src/sandbox/deliveries/address.ts';

const usual = { loopback: true, external: false, named: [] };
const external = { ...usual, external: true };

describe('where webhooks may go', () => {
  test.each([
    'http://127.0.0.1:9/x',
    'http://127.1/x',
    'http://[::1]:9/x',
    'http://[::ffff:127.0.0.1]/',
    'http://localhost/x',
    'http://a.localhost/x',
  ])('%s is this machine, always', (address) => {
    expect(refusedAddress(new URL(address), usual)).toBeUndefined();
    expect(refusedAddress(new URL(address), external)).toBeUndefined();
  });

  test.each([
    'https://hooks.example/x',
    'http://203.0.113.9/',
    'http://localhost.example/',
    'http://10.0.0.1/',
  ])('%s is elsewhere: only where that is allowed', (address) => {
    expect(refusedAddress(new URL(address), usual)).toBe('only loopback addresses are called');
    expect(refusedAddress(new URL(address), external)).toBeUndefined();
  });

  test.each([
    'http://169.254.169.254/latest',
    'http://0xa9fea9fe/latest',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://0.0.0.0/',
    'http://224.0.0.1/',
    'http://[::169.254.169.254]/',
    'http://[64:ff9b::169.254.1.1]/',
    'http://[64:ff9b:1::1]/',
    'http://[2001:0:1::1]/',
    'http://[2002:a00:1::1]/',
    'http://[::ffff:0:10.0.0.1]/',
    'http://255.255.255.255/',
  ])('%s is never allowed', (address) => {
    expect(refusedAddress(new URL(address), usual)).toBeDefined();
    expect(refusedAddress(new URL(address), external)).toBeDefined();
  });

  test.each([
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    'fd12::1',
    '::ffff:10.0.0.1',
  ])('a name may not lead to %s, which the caller may name himself', (ip) => {
    expect(mayReach(ip, external, false)).toBe(false);
    expect(mayReach(ip, external, true)).toBe(true);
    expect(mayReach(ip, usual, true)).toBe(false);
  });

  test('a name may lead to a public address, and nothing else is an address', () => {
    for (const ip of ['203.0.113.9', '172.32.0.1', '2606:4700::1111']) {
      expect(mayReach(ip, external, false)).toBe(true);
    }
    expect(mayReach('fe80::1%eth0', external, false)).toBe(false);
    expect(mayReach('no address', external, true)).toBe(false);
  });
});

test('where loopback is refused, nobody is told that only loopback is called', () => {
  const remote = { loopback: false, external: false, named: [] };
  for (const url of ['http://203.0.113.9/', 'http://example.com/', 'http://169.254.169.254/'])
    expect(refusedAddress(new URL(url), remote)).toContain('--allow-external-webhooks');
});
