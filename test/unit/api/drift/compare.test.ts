import { describe, expect, test } from 'vitest';
import { compareDocuments, type Drift, isBreaking } from '../../../../src/api/drift/compare.ts';
import { openApiDocument } from '../../../../src/api/openapi.ts';

type Json = Record<string, unknown>;

/** A document with one operation that takes and returns one object. */
const documentOf = (sent: Json, responded: Json = {}, parameters: Json[] = []): Json => ({
  openapi: '3.1.0',
  paths: {
    '/things': {
      post: {
        parameters,
        requestBody: { required: true, content: { 'application/json': { schema: sent } } },
        responses: { 201: { content: { 'application/json': { schema: responded } } } },
      },
    },
  },
});

const drifts = (contract: Json, service: unknown): readonly Drift[] => {
  const { drifts: found, problem } = compareDocuments(contract, service);
  if (found === undefined) throw new Error(problem);
  return found;
};

/** The change reported for a field's schema, from the sender's perspective. */
function change(part: 'body' | 'response', before: Json, after: Json): string[] {
  const object = (field: Json) => ({ type: 'object', properties: { field } });
  const made = (field: Json) => (part === 'body' ? documentOf(object(field)) : documentOf({}, object(field)));
  return drifts(made(before), made(after)).map(
    (one) => `${one.change} ${one.field} ${one.aspect} ${one.contract} → ${one.service}`,
  );
}

describe('what a client sends', () => {
  test.each<[string, Json, Json, string[]]>([
    ['a lower maximum', { maximum: 500 }, { maximum: 100 }, ['tightened field maximum 500 → 100']],
    ['a higher maximum', { maximum: 100 }, { maximum: 500 }, ['loosened field maximum 100 → 500']],
    ['a new minimum', {}, { minimum: 1 }, ['tightened field minimum null → 1']],
    ['a minimum gone', { minLength: 1 }, {}, ['loosened field minLength 1 → null']],
    [
      'null no longer taken',
      { type: ['string', 'null'] },
      { type: 'string' },
      ['tightened field type null or string → string'],
    ],
    ['another type', { type: 'string' }, { type: 'integer' }, ['tightened field type string → integer']],
    ['a wider number', { type: 'integer' }, { type: 'number' }, ['loosened field type integer → number']],
    ['a value gone', { enum: ['a', 'b'] }, { enum: ['a'] }, ['removed field value "b" → null']],
    ['a value more', { enum: ['a'] }, { enum: ['a', 'b'] }, ['added field value null → "b"']],
    [
      'a list closed',
      { type: 'string' },
      { type: 'string', enum: ['a'] },
      ['tightened field values null → "a"'],
    ],
    ['another default', { default: 1 }, { default: 2 }, ['changed field default 1 → 2']],
    [
      'a new format',
      { type: 'string' },
      { type: 'string', format: 'uri' },
      ['tightened field format null → uri'],
    ],
    ['a pattern under the same format', { format: 'uuid', pattern: 'a' }, { format: 'uuid' }, []],
    [
      'an exclusive bound of the same meaning',
      { type: 'integer', minimum: 1 },
      { type: 'integer', exclusiveMinimum: 0 },
      [],
    ],
    [
      'null spelled otherwise',
      { type: ['string', 'null'] },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      [],
    ],
    ['null as in OpenAPI 3.0', { type: ['string', 'null'] }, { type: 'string', nullable: true }, []],
    [
      'a constant in place of a list of one',
      { type: 'string', enum: ['a'] },
      { type: 'string', const: 'a' },
      [],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(change('body', before, after)).toEqual(expected);
  });
});

describe('what the service returns, where a promise kept is what counts', () => {
  test.each<[string, Json, Json, string[]]>([
    [
      'may be null now',
      { type: 'string' },
      { type: ['string', 'null'] },
      ['tightened field type string → null or string'],
    ],
    [
      'is never null now',
      { type: ['string', 'null'] },
      { type: 'string' },
      ['loosened field type null or string → string'],
    ],
    ['may be larger', { maximum: 10 }, { maximum: 20 }, ['tightened field maximum 10 → 20']],
    ['a value more', { enum: ['a'] }, { enum: ['a', 'b'] }, ['added field value null → "b"']],
    ['a value gone', { enum: ['a', 'b'] }, { enum: ['a'] }, ['removed field value "b" → null']],
  ])('%s', (_, before, after, expected) => {
    expect(change('response', before, after)).toEqual(expected);
  });

  test('a field that may be missing now is a promise less', () => {
    const made = (required: string[]) =>
      documentOf({}, { type: 'object', properties: { id: { type: 'string' } }, required });
    expect(drifts(made(['id']), made([]))).toMatchObject([{ change: 'tightened', aspect: 'required' }]);
    expect(drifts(made([]), made(['id']))).toMatchObject([{ change: 'loosened', aspect: 'required' }]);
  });
});

describe('fields, parameters and operations', () => {
  const order = {
    type: 'object',
    properties: {
      items: { type: 'array', items: { type: 'object', properties: { url: { type: 'string' } } } },
    },
  };

  test('a field gone is told once, not again for each field within it', () => {
    expect(drifts(documentOf(order), documentOf({ type: 'object', properties: {} }))).toMatchObject([
      { change: 'removed', part: 'body', field: 'items', aspect: 'field' },
    ]);
    expect(drifts(documentOf({}, order), documentOf({}, { type: 'object', properties: {} }))).toMatchObject([
      { change: 'removed', part: 'response', field: 'items' },
    ]);
  });

  test('a field more is added, and tightens where it is demanded', () => {
    const empty = documentOf({ type: 'object', properties: {} });
    const made = (required: string[]) =>
      documentOf({ type: 'object', properties: { extra: { type: 'string' } }, required });
    expect(drifts(empty, made([]))).toMatchObject([{ change: 'added', field: 'extra' }]);
    expect(drifts(empty, made(['extra']))).toMatchObject([{ change: 'tightened', field: 'extra' }]);
  });

  test('a parameter gone, added, demanded', () => {
    const query = (name: string, required = false) => ({
      name,
      in: 'query',
      required,
      schema: { type: 'string' },
    });
    const made = (...parameters: Json[]) => documentOf({}, {}, parameters);
    expect(drifts(made(query('a')), made(query('b')))).toMatchObject([
      { change: 'removed', part: 'parameter', field: 'a' },
      { change: 'added', part: 'parameter', field: 'b' },
    ]);
    expect(drifts(made(), made(query('a', true)))).toMatchObject([{ change: 'tightened', field: 'a' }]);
    expect(drifts(made(query('a')), made(query('a', true)))).toMatchObject([
      { change: 'tightened', field: 'a', aspect: 'required' },
    ]);
  });

  test('an operation gone or added, whatever its path parameters are called', () => {
    const at = (...paths: string[]) => ({
      paths: Object.fromEntries(paths.map((path) => [path, { get: { responses: {} } }])),
    });
    expect(drifts(at('/orders/{order_id}'), at('/orders/{id}/'))).toEqual([]);
    expect(drifts(at('/a', '/b'), at('/b', '/c'))).toMatchObject([
      { change: 'removed', operation: 'GET /a' },
      { change: 'added', operation: 'GET /c' },
    ]);
  });

  test('a body that is gone altogether is one change', () => {
    const bare = { paths: { '/things': { post: { responses: { 201: {} } } } } };
    expect(drifts(documentOf(order), bare).map(({ part, field }) => [part, field])).toEqual([
      ['body', ''],
      ['response', ''],
    ]);
  });

  test('references, allOf and alternatives are read through', () => {
    const direct = documentOf({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'integer' } },
      required: ['a'],
    });
    const referring = {
      ...documentOf({
        allOf: [
          { $ref: '#/components/schemas/A~1x' },
          { properties: { b: { $ref: '#/components/schemas/B' } } },
        ],
      }),
      components: {
        schemas: {
          'A/x': { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          B: { type: 'integer' },
        },
      },
    };
    expect(drifts(direct, referring)).toEqual([]);
  });

  test('the worst changes come first, and only removed and tightened break a client', () => {
    const found = drifts(
      documentOf({ type: 'object', properties: { a: { maximum: 5 }, gone: {} } }),
      documentOf({ type: 'object', properties: { a: { maximum: 9 }, fresh: {} } }),
    );
    expect(found.map((drift) => [drift.change, isBreaking(drift)])).toEqual([
      ['removed', true],
      ['loosened', false],
      ['added', false],
    ]);
  });
});

describe('the contract against itself', () => {
  const json = JSON.stringify(openApiDocument({ baseUrl: 'https://a', legacyBaseUrl: 'https://b' }));
  const contract = (): Json => JSON.parse(json);

  test('has no difference', () => {
    expect(drifts(contract(), contract())).toEqual([]);
  });

  test('an operation of the legacy service is compared only where it is described', () => {
    const { paths, ...rest } = contract();
    const current = Object.fromEntries(
      Object.entries(Object(paths)).filter(([path]) => !path.startsWith('/v1/')),
    );
    expect(drifts(contract(), { ...rest, paths: current })).toEqual([]);
  });

  test('each operation and each of its parameters is missed when it is gone', () => {
    const { paths, ...rest } = contract();
    for (const [path, item] of Object.entries<Json>(Object(paths)).filter(([at]) => !at.startsWith('/v1/'))) {
      // A path alone: the whole is compared above, and takes fifty times as long.
      const having = (methods: Json): Json => ({ ...rest, paths: { [path]: methods } });
      for (const [method, operation] of Object.entries<Json>(Object(item))) {
        const { [method]: _, ...others } = item;
        expect(drifts(having(item), having(others))).toMatchObject([
          { change: 'removed', part: 'operation' },
        ]);
        const parameters = (operation.parameters ?? []) as Json[];
        for (const { name } of parameters) {
          const fewer = { ...operation, parameters: parameters.filter((it) => it.name !== name) };
          expect(drifts(having(item), having({ ...item, [method]: fewer }))).toMatchObject([
            { change: 'removed', part: 'parameter' },
          ]);
        }
      }
    }
  });
});
