import { describe, expect, test } from 'vitest';
import { compareDocuments } from '../../../../src/api/drift/compare.ts';
import { openApiDocument } from '../../../../src/api/openapi.ts';

type Json = Record<string, unknown>;

const contract = openApiDocument({ baseUrl: 'https://a', legacyBaseUrl: 'https://b' });

const responding = (schema: unknown, schemas: Json = {}): Json => ({
  paths: { '/x': { get: { responses: { 200: { content: { 'application/json': { schema } } } } } } },
  components: { schemas },
});
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const doubling = (keyword: string) =>
  Object.fromEntries(many(40, (at) => [`S${at}`, { [keyword]: [ref(`S${at + 1}`), ref(`S${at + 1}`)] }]));

const hostile: Record<string, () => unknown> = {
  'a schema that is itself': () => responding(ref('A'), { A: ref('A') }),
  'two schemas that are each other': () => responding(ref('A'), { A: ref('B'), B: ref('A') }),
  'a schema that contains itself': () =>
    responding(ref('A'), {
      A: { type: 'object', properties: { a: ref('A'), b: { type: 'array', items: ref('A') } } },
    }),
  'alternatives that are themselves': () =>
    responding(ref('A'), { A: { anyOf: [ref('A'), ref('A')], allOf: [ref('A')] } }),
  'properties that double forty times': () =>
    responding(
      ref('S0'),
      Object.fromEntries(
        many(40, (at) => [`S${at}`, { properties: { l: ref(`S${at + 1}`), r: ref(`S${at + 1}`) } }]),
      ),
    ),
  'anyOf that doubles forty times': () => responding(ref('S0'), doubling('anyOf')),
  'allOf that doubles forty times': () => responding(ref('S0'), doubling('allOf')),
  'nesting of ten thousand': () =>
    responding(many(10_000, (at) => at).reduce<Json>((inner) => ({ items: inner }), {})),
  'a path item that is itself': () => ({ paths: { '/x': { $ref: '#/paths/~1x' } } }),
  'a hundred thousand paths of one item': () => ({
    paths: Object.fromEntries(many(100_000, (at) => [`/p${at}`, { $ref: '#/components/x/I' }])),
    components: {
      x: { I: { parameters: many(1000, (at) => ({ name: `q${at}`, in: 'query' })), get: {}, put: {} } },
    },
  }),
  'one long name over many fields': () =>
    responding({
      properties: {
        ['n'.repeat(1_000_000)]: { properties: Object.fromEntries(many(100_000, (at) => [`f${at}`, {}])) },
      },
    }),
  'one long list of values, referred to often': () =>
    responding(
      { properties: Object.fromEntries(many(100_000, (at) => [`f${at}`, ref('V')])) },
      { V: { enum: many(100_000, (at) => `value ${at}`) } },
    ),
  'one long list of required names in many alternatives': () =>
    responding(
      { anyOf: many(2000, () => ref('R')) },
      { R: { properties: { a: {} }, required: many(50_000, (at) => `f${at}`) } },
    ),
  'a path of open braces': () => ({ paths: { [`/${'{'.repeat(500_000)}`]: { get: {} } } }),
  'a path of parameters': () => ({
    paths: {
      [`/${'{a}'.repeat(300_000)}`]: {
        get: { parameters: many(100_000, () => ({ name: 'a', in: 'path' })) },
      },
    },
  }),
  'a reference with a percent sign': () => responding({ $ref: '#/components/%' }),
  'a reference elsewhere': () => responding({ $ref: 'https://evil.example/schema.json' }),
  'a reference into a prototype': () => responding({ $ref: '#/__proto__/constructor' }),
  'nothing where it should be': () => ({
    paths: {
      a: null,
      b: 7,
      c: [],
      d: { get: null },
      e: { get: { parameters: 3, responses: [], requestBody: 'x' } },
    },
  }),
  'odd values everywhere': () =>
    responding({
      type: [1, null, {}],
      enum: {},
      required: 'a',
      properties: [],
      items: 5,
      anyOf: {},
      minimum: 'x',
      default: undefined,
    }),
  'a field named after a prototype': () =>
    responding(JSON.parse('{"properties": {"__proto__": {"type": "string"}, "constructor": {}}}')),
};

describe('a document that wants to harm', () => {
  test.each(Object.entries(hostile))('%s ends', (_, make) => {
    const document = make();
    const before = process.memoryUsage().heapUsed;
    const { drifts, problem } = compareDocuments(contract, document);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(500 * 1024 * 1024);
    expect(drifts ?? problem).toBeDefined();
  });

  test.each([null, 'text', [], {}, { paths: [] }, { openapi: '3.1.0' }])(
    '%j is no description',
    (document) => {
      expect(compareDocuments(contract, document).problem).toContain('not an OpenAPI document');
    },
  );

  test('one that spells out too much is refused, not half compared', () => {
    expect(compareDocuments(contract, hostile['anyOf that doubles forty times']?.()).problem).toContain(
      'more than',
    );
  });
});
