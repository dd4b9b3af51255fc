import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../../src/api/error-codes.ts';
import { openApiDocument } from '../../../src/api/openapi.ts';
import type { Operation } from '../../../src/api/operation.ts';
import { operations } from '../../../src/api/operations/index.ts';
import { schemas } from '../../../src/api/schemas/index.ts';

interface Reference {
  $ref?: string;
  type?: string;
}

interface Described {
  operationId: string;
  parameters?: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
  requestBody?: {
    required: boolean;
    content: Record<string, { schema: Reference & { anyOf?: Reference[] } }>;
  };
  responses: Record<string, { 'x-error-codes'?: string[] }>;
}

const document = openApiDocument({
  baseUrl: 'http://127.0.0.1:4848',
  legacyBaseUrl: 'http://127.0.0.1:4849',
});
// Parse it as JSON, as its consumers do.
const { paths, components } = JSON.parse(JSON.stringify(document)) as {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Record<string, unknown>> };
};
const table = Object.entries<Operation>(operations);
const describedOf = ({ path, method }: Operation): Described | undefined =>
  paths[path]?.[method.toLowerCase()];

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1 under a public validator', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test('names each shape that it uses, and no other, and refers to it wherever it occurs', () => {
    const text = JSON.stringify(document);
    const referred = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(Object.keys(components.schemas).toSorted()).toEqual([...new Set(referred)].toSorted());
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(referred));
    expect(JSON.stringify(components.schemas.OrderListResponse)).toContain('schemas/OrderResponse');
    expect(JSON.stringify(components.schemas.OrderCreate)).toContain('schemas/Address');
    expect(JSON.stringify(components.schemas.OrderCreate)).toContain('Ceiling of the whole order');
  });

  test.each(table)(
    '%s: has its parameters with their bounds, its body, and every error',
    (name, operation) => {
      const described = describedOf(operation);
      expect(described?.operationId).toBe(name);
      for (const [parameter, spec] of Object.entries({ ...operation.pathParameters, ...operation.query })) {
        const found = described?.parameters?.find((candidate) => candidate.name === parameter);
        expect(found?.schema.minimum).toBe(spec.min);
        expect(found?.schema.maximum).toBe(spec.max);
        expect(found?.schema.maxLength).toBe(spec.maxLength);
        expect(found?.schema.default).toBe(spec.default);
      }
      const schema = described?.requestBody?.content['application/json']?.schema;
      const [body, or] = schema?.anyOf ?? [schema];
      expect(body?.$ref?.split('/').at(-1)).toBe(operation.body?.schema);
      expect(or?.type).toBe(operation.body?.optional ? 'null' : undefined);
      for (const code of operation.errors) {
        expect(described?.responses[errorCodes[code].status]?.['x-error-codes']).toContain(code);
      }
    },
  );

  test.each(table)(
    '%s: says what any operation may come to, and that a temporary key is not enough',
    (_, operation) => {
      const described = describedOf(operation);
      expect(described?.responses.default?.['x-error-codes']).toContain('service_unavailable');
      if (operation.auth === 'bearer')
        expect(described?.responses[403]?.['x-error-codes']).toContain('forbidden');
    },
  );

  test('a payment by challenge is described as it goes over the wire', () => {
    const { responses } = describedOf(operations['agent.order.create']) ?? {};
    expect(responses?.[402]).toMatchObject({
      headers: { 'WWW-Authenticate': {} },
      content: { 'application/json': {}, 'application/problem+json': {} },
    });
    expect(responses?.[201]).toMatchObject({ headers: { 'Payment-Receipt': {}, 'X-Api-Key': {} } });
    expect(describedOf(operations['sandbox.mint'])?.responses[429]).toMatchObject({
      headers: { 'Retry-After': {} },
    });
  });

  test('requests are closed, responses are open, and what was only observed says so', () => {
    expect(components.schemas.OrderCreate).toMatchObject({ additionalProperties: false });
    expect(components.schemas.OrderResponse).not.toHaveProperty('additionalProperties');
    expect(components.schemas.Sku).toMatchObject({ 'x-observed': true });
  });
});
