import { expect, test } from 'vitest';
import { isUrl, parseUrl } from '../../../../src/platform/net/urls.ts';

test('a host beyond ASCII is a URL, however often a process has read one', () => {
  const read = Array.from({ length: 20_000 }, () => isUrl('https://müller.example/p'));
  expect(read.filter((isRead) => !isRead)).toEqual([]);
  expect([isUrl('/p'), parseUrl('/p', new URL('https://shop.example'))?.href, isUrl('https://')]).toEqual([
    ...[false, 'https://shop.example/p', false],
  ]);
});
