import { describe, expect, test } from 'vitest';
import { targetOf } from '../../../../src/sandbox/webhooks/address.ts';

const usual = { loopback: true, external: false, named: [] };
const external = { ...usual, external: true };
const hook = new URL('https://hooks.example/x');

describe('where webhooks may go', () => {
  test.each([
    'http://127.0.0.1:9/x',
    'http://127.1/x',
    'http://[::1]:9/x',
    'http://[::ffff:127.0.0.1]/',
    'http://localhost/x',
    'http://a.localhost/x',
  ])('%s is this machine, always', (address) => {
    expect(targetOf(new URL(address), usual).denial).toBeUndefined();
    expect(targetOf(new URL(address), external).denial).toBeUndefined();
  });

  test.each([
    'https://hooks.example/x',
    'http://203.0.113.9/',
    'http://localhost.example/',
    'http://10.0.0.1/',
  ])('%s is elsewhere: only where that is allowed', (address) => {
    expect(targetOf(new URL(address), usual).denial).toBe('only loopback addresses are called');
    expect(targetOf(new URL(address), external).denial).toBeUndefined();
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
    expect(targetOf(new URL(address), usual).denial).toBeDefined();
    expect(targetOf(new URL(address), external).denial).toBeDefined();
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
    expect(targetOf(hook, external).mayReach(ip)).toBe(false);
    expect(targetOf(hook, { ...usual, named: [hook.host] }).mayReach(ip)).toBe(true);
    expect(targetOf(hook, usual).mayReach(ip)).toBe(false);
  });

  test('a name may lead to a public address, and nothing else is an address', () => {
    for (const ip of ['203.0.113.9', '172.32.0.1', '2606:4700::1111']) {
      expect(targetOf(hook, external).mayReach(ip)).toBe(true);
    }
    expect(targetOf(hook, external).mayReach('fe80::1%eth0')).toBe(false);
    expect(targetOf(hook, { ...external, named: [hook.host] }).mayReach('no address')).toBe(false);
  });
});

test('where loopback is refused, nobody is told that only loopback is called', () => {
  const remote = { loopback: false, external: false, named: [] };
  for (const url of ['http://203.0.113.9/', 'http://example.com/', 'http://169.254.169.254/'])
    expect(targetOf(new URL(url), remote).denial).toContain('--allow-external-webhooks');
});
