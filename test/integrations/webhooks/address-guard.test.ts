import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { ForbiddenAddress, guardedLookup, whyForbidden } from '../../../src/integrations/webhooks/forward.ts';

describe('where a name may lead', () => {
  test.each([
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    '3fff::1',
    '5f00::1',
    'fd00:ec2::254',
    '100.100.100.200',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    '255.255.255.255',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '::169.254.169.254',
    '::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '64:ff9b::224.0.0.1',
    '2001:0:a9fe:a9fe::1',
    '::ffff:0:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '168.63.129.16',
    'fd20:ce::254',
    'fe80::1%eth0',
    '0.1.2.3',
    'no address',
  ])('never to %s, a metadata, link-local or reserved address', (address) => {
    expect(whyForbidden(address, 'innocent.example', true)).toContain('link-local or reserved');
    expect(whyForbidden(address, 'localhost', true)).toContain('link-local or reserved');
  });

  test.each([
    '10.0.0.5',
    '172.16.3.4',
    '172.31.255.255',
    '192.168.1.1',
    '127.0.0.1',
    '::1',
    'fd12::1',
    '::ffff:10.0.0.5',
    '::ffff:7f00:1',
    '64:ff9b::10.0.0.5',
    '64:ff9b::7f00:1',
    '100.64.0.1',
  ])('to the private %s only where that is allowed', (address) => {
    expect(whyForbidden(address, 'innocent.example', false)).toContain('--allow-private');
    expect(whyForbidden(address, 'innocent.example', true)).toBeUndefined();
  });

  test.each([
    '93.184.216.34',
    '172.32.0.1',
    '2606:4700::1111',
    '::ffff:93.184.216.34',
    '64:ff9b::93.184.216.34',
  ])('to %s', (address) => {
    expect(whyForbidden(address, 'hooks.example', false)).toBeUndefined();
  });

  test('localhost may be this machine', () => {
    expect(whyForbidden('127.0.0.1', 'localhost', false)).toBeUndefined();
    expect(whyForbidden('::1', 'app.localhost', false)).toBeUndefined();
    expect(whyForbidden('127.0.0.1', 'notlocalhost', false)).toContain('private');
  });
});

const named = await lookup(hostname()).then(
  () => true,
  () => false,
);

test.skipIf(!named)('a name is refused by what it resolves to, before anything is sent', async () => {
  const refused = await new Promise((resolve) => {
    guardedLookup(false)(hostname(), { all: true }, (error) => resolve(error));
  });
  expect(refused).toBeInstanceOf(ForbiddenAddress);
  const found = await new Promise((resolve) => {
    guardedLookup(true)(hostname(), {}, (_, address) => resolve(address));
  });
  expect(found).toEqual(expect.stringMatching(/[.:]/));
});
