import { describe, expect, test } from 'vitest';
import { triggerPath } from '../../../../src/api/control.ts';
import type { Operation } from '../../../../src/api/operation.ts';
import { operations } from '../../../../src/api/operations/index.ts';
import { findRoute } from '../../../../src/sandbox/routes.ts';
import { readQuery, readTarget } from '../../../../src/sandbox/server/request.ts';

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
      const found = findRoute(operation.method, path);
      expect('kind' in found && found.kind === 'operation' ? found.name : found, path).toBe(name);
    }
  });

  test('a wrong method gets the right ones; an unknown path has none', () => {
    expect(findRoute('PATCH', '/orders')).toEqual({ allowed: ['GET', 'POST'] });
    expect(findRoute('GET', '/nothing/at/all')).toEqual({ allowed: [] });
  });

  test.each(['/', '/console/', '/track/1'])('%s is a page for whoever asks for one', (path) => {
    expect(findRoute('GET', path, true)).toMatchObject({ kind: 'page' });
  });

  test('the page of a public order is the API for everyone else', () => {
    const path = '/track/123e4567-e89b-42d3-a456-426614174000';
    expect(findRoute('GET', path)).toMatchObject({ kind: 'operation', name: 'order.track' });
    expect(findRoute('POST', path, true)).toEqual({ allowed: ['GET'] });
  });

  test('a label is found by its return and number; a trigger takes POST alone', () => {
    expect(findRoute('GET', '/labels/abc/12.pdf')).toEqual({
      kind: 'label',
      path: { id: 'abc', number: '12' },
    });
    expect(findRoute('GET', '/labels/abc/.pdf')).toEqual({ allowed: [] });
    expect(findRoute('GET', triggerPath)).toEqual({ allowed: ['POST'] });
  });

  test.each(['//', '/orders/%', '/orders/%ff', '/orders//cancel', '//orders'])('%s leads nowhere', (path) => {
    expect('kind' in findRoute('GET', path)).toBe(false);
  });
});
