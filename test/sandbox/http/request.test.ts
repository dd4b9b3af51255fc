import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/contract/operation.ts';
import { operations } from '../../../src/contract/operations/index.ts';
import { readQuery, readTarget } from '../../../src/sandbox/http/request.ts';
import { route } from '../../../src/sandbox/http/routes.ts';

describe('the target of a request', () => {
  test.each([
    ['/orders', '/orders', ''],
    ['/orders?limit=1', '/orders', 'limit=1'],
    ['/search?q=what?really', '/search', 'q=what?really'],
    ['http://127.0.0.1:4848/orders?limit=1', '/orders', 'limit=1'],
    ['http://127.0.0.1:4848', '/', ''],
    ['?limit=1', '', 'limit=1'],
    ['*', '*', ''],
  ])('%s', (target, pathname, search) => {
    expect(readTarget(target)).toEqual({ pathname, search });
  });

  test('keeps every value of a repeated parameter, and reaches no prototype', () => {
    const query = readQuery('a=1&b=2&a=3&__proto__=x&constructor=y');
    expect(query.a).toEqual(['1', '3']);
    expect(Object.getPrototypeOf(query)).toBeNull();
    expect(query.constructor).toEqual(['y']);
  });
});

describe('the routes', () => {
  const sample = (path: string): string => path.replace(/\{[^}]+\}/g, '123e4567-e89b-42d3-a456-426614174000');

  test.each(Object.entries<Operation>(operations))('%s is found at its own path', (name, operation) => {
    for (const slash of ['', '/']) {
      const path = `${sample(operation.path)}${slash}`;
      const found = route(operation.method, path);
      expect('name' in found ? found.name : found, path).toBe(name);
    }
  });

  test('a wrong method is told the right ones; an unknown path has none', () => {
    expect(route('PATCH', '/orders')).toEqual({ allowed: ['GET', 'POST'] });
    expect(route('GET', '/nothing/at/all')).toEqual({ allowed: [] });
  });

  test.each(['/orders/%', '/orders/%ff', '/orders//cancel', '//orders'])('%s leads nowhere', (path) => {
    expect('name' in route('GET', path)).toBe(false);
  });
});
