import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { ownShapes } from '../../../src/api/outputs/index.ts';
import { errorSchema, outputName, outputSchema, outputSchemas } from '../../../src/api/outputs/schema.ts';
import { schemas } from '../../../src/api/schemas/index.ts';
import { printingCommands } from '../../../src/commands/program.ts';
import { exitCodes } from '../../../src/platform/errors.ts';
import { knownCommands } from '../../support/known-commands.ts';
import { mismatch, problemIn } from '../../support/printed/check.ts';

const commands = await printingCommands();
const document = outputSchemas(commands);

test('every command has a schema, and a line of ndjson', async () => {
  const names = (await knownCommands()).map(({ path }) => outputName(path));
  expect(Object.keys(Object(document.$defs))).toEqual(
    expect.arrayContaining(names.flatMap((name) => [name, `${name}.line`])),
  );
});

test('a record of errand has a name that no shape of the service has', () => {
  expect(Object.keys(ownShapes).filter((name) => Object.hasOwn(schemas, name))).toEqual([]);
});

test('every record of errand is one that a command prints, or a part of one', () => {
  const printed = JSON.stringify(commands.map(({ output }) => output));
  const parts = ['ErrorOutput', 'ErrorReport', 'Receipt'];
  expect(
    Object.keys(ownShapes).filter((name) => !printed.includes(`"${name}"`) && !parts.includes(name)),
  ).toEqual([]);
});

test('the categories of failures are those with an exit code', () => {
  const { category } = Object(errorSchema()).properties.error.properties;
  expect(category.enum).toEqual(Object.keys(exitCodes));
});

/** Paths of unconstrained schemas without a description. */
function silent(node: unknown, path: string): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const {
    properties = {},
    items,
    anyOf = [],
    oneOf = [],
    allOf = [],
    additionalProperties,
    $defs = {},
  } = Object(node);
  const keys = Object.keys(node);
  const says = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', 'description'];
  const own = says.some((name) => keys.includes(name)) ? [] : [path];
  return [
    ...own,
    ...Object.entries({ ...properties }).flatMap(([name, one]) => silent(one, `${path}.${name}`)),
    ...Object.entries({ ...$defs }).flatMap(([name, one]) => silent(one, name)),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((one) => silent(one, path)),
    ...(items ? silent(items, `${path}[]`) : []),
    ...(typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
      ? silent(additionalProperties, `${path}.*`)
      : []),
  ];
}

test('no schema is empty without a reason', () => {
  const { $defs } = document;
  expect(silent({ description: 'the document', $defs }, '')).toEqual([]);
});

test('records of errand have no other fields; those of the service may grow', () => {
  const { $defs } = Object(document);
  expect($defs.JournalRecord.additionalProperties).toBe(false);
  expect($defs.JournalRecord.required).toContain('body_hash');
  expect($defs.OrderResponse).not.toHaveProperty('additionalProperties');
  expect($defs.OrderWatchEvent.oneOf.map((one: object) => Object(one).additionalProperties)).toEqual(
    Array.from({ length: 5 }, () => false),
  );
});

test('the schema of a command stands alone: it defines all that it refers to', () => {
  for (const command of commands) {
    const schema = outputSchema(command);
    const references = [...JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(Object.keys(Object(schema.$defs)), command.path).toEqual(expect.arrayContaining(references));
  }
});

describe('a validator as it comes', () => {
  const strict = (): Ajv2020 => {
    const ajv = new Ajv2020({ strict: true, logger: { log: fail, warn: fail, error: fail } });
    addFormats.default(ajv);
    return ajv;
  };
  const fail = (...said: unknown[]): never => {
    throw new Error(said.join(' '));
  };

  test('takes the schema of each command, and of failures', () => {
    const ajv = strict();
    for (const command of commands)
      expect(() => ajv.compile(outputSchema(command)), command.path).not.toThrow();
    expect(() => ajv.compile(errorSchema())).not.toThrow();
  });

  test('takes every definition of the one document', () => {
    const ajv = strict().addSchema(document, 'errand');
    for (const name of Object.keys(Object(document.$defs)))
      expect(() => ajv.compile({ $ref: `errand#/$defs/${name}` }), name).not.toThrow();
  });

  const id = '0b8a3a4e-4a55-4b3e-9a45-3f4b7c1d2e5f';

  test('takes what a service comes to send: other values, fewer fields, more fields, nulls', () => {
    const ajv = strict().addSchema(document, 'errand');
    const holds = (name: string, value: unknown): boolean =>
      ajv.compile({ $ref: `errand#/$defs/${name}` })(value);
    const order = {
      id,
      status: 'on_hold',
      tracking_numbers: null,
      items: [{ status: 'boxed' }],
      drone: true,
    };
    expect(holds('order.get', order)).toBe(true);
    expect(holds('order.list', [order])).toBe(true);
    expect(holds('order.list', [{ ...order, is_gift: 'yes' }])).toBe(false);
    expect(holds('order.get', { ...order, id: null })).toBe(false);
    expect(holds('order.get', { status: 'pending' })).toBe(false);
  });

  test('knows the values of today', () => {
    const { properties } = Object(document).$defs.OrderResponse;
    expect(properties.status.anyOf[0].enum).toContain('order_placed');
  });
});

describe('what is not as its schema says is found', () => {
  const head = { number: 3, hash: 'a'.repeat(64), next: [] };
  const printed = (value: unknown, more: Partial<Parameters<typeof problemIn>[0]> = {}) =>
    problemIn({
      argv: ['audit', 'head', '-o', 'json'],
      preset: '',
      code: 0,
      stdout: JSON.stringify(value),
      ...more,
    });

  test('a record that holds', () => expect(printed(head)).toBeUndefined());
  test('a number as a text', () => expect(printed({ ...head, number: '3' })).toContain('/number'));
  test('a field that is not there', () => expect(printed({ number: 3 })).toContain('hash'));
  test('a field that nobody published', () => expect(printed({ ...head, more: 1 })).toContain('more'));
  test('what is not JSON', () => expect(printed(head, { stdout: 'null and void' })).toContain('not JSON'));
  test('a line of ndjson', () => {
    const argv = ['order', 'journal', 'ls', '-ondjson'];
    expect(printed(undefined, { argv, stdout: '{"key":"k"}\n' })).toContain('order.journal.list.line');
  });
  test('a failure without its exit code', () => {
    const stderr = '{"error":{"category":"usage"}}\n';
    expect(printed(head, { stderr })).toContain('/error must have required property');
  });
  test('anything where nothing is printed', () => {
    expect(printed('done', { argv: ['config', 'set', 'utc', 'true', '-o', 'json'] })).toContain('nothing');
  });
  test('a CSV of a command that prints no JSON is none of it', () => {
    expect(printed('', { argv: ['bulk', 'template', '-o', 'json'], stdout: 'a,b\n' })).toBeUndefined();
  });
  test('a list in place of a record', () => expect(printed([head])).toBeDefined());
  test('a record of the service without its status, unless the service is odd on purpose', () => {
    expect(mismatch('order.list', [{ id: 'x' }], {})).toContain('order.list');
    expect(mismatch('order.list', [{ id: 'x' }], { oddService: true })).toBeUndefined();
    expect(mismatch('order.list', { id: 'x' }, { oddService: true })).toContain('array');
  });
});
