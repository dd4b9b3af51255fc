import { describe, expect, test } from 'vitest';
import { hostOf, isPlainUrl } from '../../../src/spending/policy/policy.ts';
import { matchesUrl } from '../../../src/spending/policy/verdict.ts';

describe('a URL is judged as whoever orders it reads it', () => {
  test.each([
    'https://www.shop.example/p/1',
    'http://www.shop.example:8080/p?x=a@b#c',
    'https://www.shop.example',
    'https://www.shop.example./1',
  ])('%s has one reading', (url) => expect(isPlainUrl(url)).toBe(true));

  test.each([
    'https://www.shop.example\\@evil.example/',
    'https://www.shop.example\\.evil.example/',
    'https://www.shop.example:443\\@evil.example/x',
    'https://ada@www.shop.example/x',
    'https://www.shop.example /x',
    'https:/www.shop.example/x',
    'shop.example/x',
  ])('%s has several', (url) => expect(isPlainUrl(url)).toBe(false));

  test.each([
    ['https://www.shop.example./x', 'www.shop.example'],
    ['https://WWW.Shop.example%2e/x', 'www.shop.example'],
    ['https://a:b@www.shop.example:8443/x', 'www.shop.example'],
  ])('%s is at %s', (url, host) => expect(hostOf(url)).toBe(host));

  test.each([
    ['https://www.shop.example/*', 'https://www.shop.example./x'],
    ['https://www.shop.example/*', 'https://www.shop.example%2e/x'],
    ['https://www.shop.example/*', 'https://a@www.shop.example/x'],
    ['https://www.shop.example/*', 'https://www.shop.example:8443/x'],
    ['*.m\u00fcnchen.example/*', 'https://www.xn--mnchen-3ya.example/x'],
    ['*.mu\u0308nchen.example/*', 'https://www.m\u00fcnchen.example/x'],
    ['*gift-card*', 'https://shop.example/Gift%2DCard/1'],
  ])('%s matches %s', (glob, url) => expect(matchesUrl(glob, url)).toBe(true));
});
