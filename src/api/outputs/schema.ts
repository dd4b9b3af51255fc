import { z } from 'zod';
import { withoutNoise } from '../openapi.ts';
import type { Operation } from '../operation.ts';
import { operations } from '../operations/index.ts';
import { type SchemaName, schemas } from '../schemas/index.ts';
import { ownShapes } from './index.ts';
import type { Printed, PrintingCommand, RecordName } from './printed.ts';
import { servedSchema, withPlainTypes } from './served.ts';

type Json = Readonly<Record<string, unknown>>;

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** The name of a command's output: `order.list`. */
export const outputName = (path: string): string => path.replaceAll(' ', '.');

/** Whether a command prints JSON at all. Pure. */
export const printsJson = ({ output }: PrintingCommand): boolean =>
  formsOf(output).some((form) => !('text' in form || 'nothing' in form));

/** Describes a command's output in words. Pure. */
export function printedText({ output }: PrintingCommand): string {
  return formsOf(output).map(formText).join('; ');
}

function formText(form: Printed): string {
  const when = form.when === undefined ? '' : ` ${form.when}`;
  if ('events' in form) return `with -o ndjson${when}, one ${form.events} a line`;
  if ('record' in form) return `one ${shownName(form.record)}${when}`;
  if ('list' in form) return `a list of ${namesOf(form.list).map(shownName).join(' or ')}${when}`;
  return `${'text' in form ? form.text : 'nothing on stdout'}${when}`;
}

const shownName = (name: RecordName): string => sourceOf(name)[0];

/**
 * JSON Schema of what a command prints with `-o json`. `#/$defs/line` describes one line with `-o ndjson`. For a
 * command without JSON output, the schema matches nothing. Pure.
 */
export function outputSchema(command: PrintingCommand): Json {
  const defs = new Definitions();
  const { whole, line } = partsOf(command, defs, '#/$defs/line');
  return {
    $schema: dialect,
    title: `errand ${command.path} -o json`,
    ...whole,
    $defs: { line, ...defs.all },
  };
}

/** JSON Schema of the line that a failing command prints on stderr. Pure. */
export function errorSchema(): Json {
  const { $schema: _, ...schema } = shapeOf('ErrorOutput', new Definitions());
  return {
    $schema: dialect,
    title: 'a failure of any command, on stderr with -o json or -o ndjson',
    ...schema,
  };
}

/**
 * All output schemas in one document. `#/$defs/order.list` is the output of `order list -o json`,
 * `#/$defs/order.list.line` is a line of `order list -o ndjson`, and `#/$defs/error` is a failure. Pure.
 */
export function outputSchemas(commands: readonly PrintingCommand[]): Json {
  const defs = new Definitions();
  const named = commands.flatMap((command): [string, Json][] => {
    const name = outputName(command.path);
    const { whole, line } = partsOf(command, defs, `#/$defs/${name}.line`);
    return [
      [name, { title: `errand ${command.path} -o json`, ...whole }],
      [`${name}.line`, line],
    ];
  });
  const { $schema: _, ...error } = errorSchema();
  return {
    $schema: dialect,
    title: 'what each command of errand prints',
    $defs: { ...Object.fromEntries(named), error, ...defs.all },
  };
}

interface Parts {
  readonly whole: Json;
  readonly line: Json;
}

function partsOf(command: PrintingCommand, defs: Definitions, lineAt: string): Parts {
  const forms = formsOf(command.output);
  const wholes = forms.flatMap((form) => wholeOf(form, defs));
  const lines = forms.flatMap((form) => lineOf(form, defs));
  const isPlain = JSON.stringify(wholes) === JSON.stringify(lines);
  const isList = wholes.length === 1 && lines.length === 1 && wholes[0]?.type === 'array';
  const whole = isPlain
    ? { $ref: lineAt }
    : isList
      ? { type: 'array', items: { $ref: lineAt } }
      : anyOf(wholes);
  return {
    whole: { description: `${printedText(command)}. ${ndjsonText(forms)}`.trimEnd(), ...whole },
    line: anyOf(lines),
  };
}

/** Describes how the output differs with `-o ndjson`. */
function ndjsonText(forms: readonly Printed[]): string {
  if (forms.every((form) => 'nothing' in form)) return 'With -o ndjson nothing either.';
  if (forms.every((form) => 'text' in form || 'nothing' in form)) return '-o does not change it.';
  if (forms.every((form) => 'events' in form)) return '-o json is refused.';
  // The text for a stream already describes the lines.
  if (forms.some((form) => 'events' in form)) return '';
  return forms.some((form) => 'list' in form)
    ? 'With -o ndjson each record is a line of its own, without the array.'
    : 'With -o ndjson it is one line.';
}

function wholeOf(form: Printed, defs: Definitions): Json[] {
  if ('record' in form) return [defs.referTo(form.record)];
  if ('list' in form)
    return [{ type: 'array', items: anyOf(namesOf(form.list).map((name) => defs.referTo(name))) }];
  return [];
}

function lineOf(form: Printed, defs: Definitions): Json[] {
  if ('record' in form) return [defs.referTo(form.record)];
  if ('list' in form) return namesOf(form.list).map((name) => defs.referTo(name));
  return 'events' in form ? [defs.referTo(form.events)] : [];
}

function anyOf(schemasOf: readonly Json[]): Json {
  const different = [...new Map(schemasOf.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [only] = different;
  if (only === undefined) return { not: {} };
  return different.length === 1 ? only : { anyOf: different };
}

const formsOf = (output: PrintingCommand['output']): readonly Printed[] => [output].flat();
const namesOf = (names: RecordName | readonly RecordName[]): readonly RecordName[] => [names].flat();

/** Referenced shapes, each defined once. */
class Definitions {
  readonly all: Record<string, Json> = {};

  referTo(name: RecordName): Json {
    const [key, make] = sourceOf(name);
    if (!(key in this.all)) {
      // Register a placeholder first, so that recursive references resolve.
      this.all[key] = {};
      this.all[key] = make(this);
    }
    return { $ref: `#/$defs/${key}` };
  }
}

/** Definition name of a record, and the function that builds its schema. */
function sourceOf(name: RecordName): [string, (defs: Definitions) => Json] {
  if (isOwn(name)) return [name, (defs) => shapeOf(name, defs)];
  if (isShape(name)) return [name, () => servedSchema(name)];
  const { response }: Operation = operations[name];
  if (response.type !== 'json') throw new TypeError(`${name} does not respond with JSON`);
  const { rows, schema } = response;
  return rows === undefined ? [schema, () => servedSchema(schema)] : rowOf(schema, rows);
}

/**
 * Schema of one record of a list. If the contract has a named shape for the record, the schema is that of the shape.
 */
function rowOf(schema: SchemaName, rows: string): [string, () => Json] {
  const shape: z.ZodType = schemas[schema]();
  const found = Object.entries(schemas).find(([, one]) => one() === elementOf(shape, rows));
  if (found) return sourceOf(found[0] as SchemaName) as [string, () => Json];
  return [`${schema}.${rows}`, () => recordOf(Object(servedSchema(schema).properties)[rows])];
}

/** Schema of a list's elements. The list itself may be nullable. */
function recordOf(list: unknown): Json {
  const { items, anyOf = [] } = Object(list);
  return items ?? anyOf.map(recordOf).find((one: unknown) => one !== undefined);
}

function elementOf(shape: z.ZodType, rows: string): unknown {
  const list: unknown = shape instanceof z.ZodObject ? shape.shape[rows] : undefined;
  const bare: unknown = list instanceof z.ZodOptional || list instanceof z.ZodNullable ? list.unwrap() : list;
  return bare instanceof z.ZodArray ? bare.element : undefined;
}

const isOwn = (name: string): name is keyof typeof ownShapes => Object.hasOwn(ownShapes, name);
const isShape = (name: string): name is SchemaName => Object.hasOwn(schemas, name);

/** Schema of one of errand's own records. It allows additional fields only in embedded service data. */
function shapeOf(name: keyof typeof ownShapes, defs: Definitions): Json {
  const { $schema: _, ...made } = z.toJSONSchema(ownShapes[name], {
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema: node }) {
      withoutNoise(node);
      const { shape } = z.globalRegistry.get(zodSchema) ?? {};
      if (typeof shape !== 'string' || !isShape(shape)) return;
      delete node.shape;
      Object.assign(node, defs.referTo(shape));
    },
  });
  return withPlainTypes(made);
}
