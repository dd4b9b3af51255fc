import { Budget, boundNames, type Facts, fieldsOf } from '../../api/drift/compare.ts';
import type { JsonObject } from '../../api/json.ts';
import { shapeSchema } from '../../api/openapi.ts';
import type { Operation } from '../../api/operation.ts';
import { operations } from '../../api/operations/index.ts';
import { scenarioSchema } from '../../api/scenario/schema.ts';
import { type SchemaName, schemas } from '../../api/schemas/index.ts';
import { inferColumns } from '../../cli/output/select.ts';
import { showsRows } from '../../cli/shows-rows.ts';
import type { Column, ListResult, OutputOptions, RecordResult } from '../../format/result.ts';
import { forTable } from '../../format/result.ts';
import { orderFileSchema } from '../../orders/input/order-file-schema.ts';
import { schemaOfEntryFile } from '../../standing/schema.ts';

/** Every shape, with the operations that use it. */
export const shapeRows = [
  ...Object.keys(schemas).map((name) => ({ name, used_by: usesOf(name) })),
  { name: 'OrderFile', used_by: 'order create --file' },
  { name: 'Scenario', used_by: 'sandbox serve --scenario, sandbox test' },
  { name: 'StandingFile', used_by: 'standing' },
];

export const shapeColumns: readonly Column[] = [
  { name: 'name', path: 'name', weight: 9 },
  { name: 'used by', path: 'used_by', weight: 8 },
];

/** Shapes of files that errand reads, besides those of the service. */
const fileSchemas = {
  OrderFile: orderFileSchema,
  Scenario: scenarioSchema,
  StandingFile: schemaOfEntryFile,
} as const;

type ShapeName = SchemaName | keyof typeof fileSchemas;

const isFileShape = (name: string): name is keyof typeof fileSchemas => Object.hasOwn(fileSchemas, name);

export const isShape = (name: string): name is ShapeName => isFileShape(name) || Object.hasOwn(schemas, name);

const fieldColumns: readonly Column[] = [
  { name: 'field', path: 'field', weight: 9 },
  { name: 'type', path: 'type', weight: 8 },
  { name: 'required', path: 'required', kind: 'flag', weight: 7 },
  { name: 'bounds', path: 'bounds', weight: 6 },
  { name: 'default', path: 'default', weight: 3 },
  { name: 'values', path: 'values', weight: 5 },
  { name: 'observed', path: 'observed', kind: 'flag', weight: 2 },
];

/** Columns for shapes of printed output. Such shapes have no defaults and no `observed` mark. */
export const printedColumns = fieldColumns.filter(({ name }) => name !== 'default' && name !== 'observed');

/** Renders a shape as JSON Schema, or as a table of fields if the format has columns. */
export function shapeResult(name: ShapeName, output: OutputOptions): RecordResult | ListResult<never> {
  const schema = isFileShape(name) ? fileSchemas[name]() : shapeSchema(name);
  if (!showsRows(output)) return { kind: 'record', record: schema, columns: inferColumns([schema]) };
  return fieldList(schema, [`-o json gives the JSON Schema${usesOf(name) && `; ${usesOf(name)}`}`]);
}

/** Lists the fields of a JSON Schema as rows of a table. */
export function fieldList(
  schema: JsonObject,
  hints: readonly string[],
  columns = fieldColumns,
): ListResult<never> {
  const fields = fieldsOf(schema, schema, new Budget());
  fields.delete('');
  return {
    kind: 'list',
    id: 'field',
    columns,
    rows: forTable([...fields].map(([field, facts]) => fieldRow(field, facts))),
    empty: 'no JSON',
    hints: () => hints,
  };
}

const fieldRow = (
  field: string,
  { types, required, bounds, values, known, observed, ...facts }: Facts,
): JsonObject => ({
  field,
  type: [...types].join(' or ') + (facts.format === undefined ? '' : ` (${facts.format})`),
  required,
  bounds: boundNames
    .flatMap((name) => (bounds[name] === undefined ? [] : [`${name} ${bounds[name]}`]))
    .join(', '),
  default: facts.default,
  values: values?.map(bare) ?? (known && [...known.map(bare), '…']),
  observed,
});

const bare = (value: string): string => value.replace(/^"(.*)"$/, '$1');

function usesOf(name: string): string {
  const uses = Object.entries<Operation>(operations).flatMap(([operation, { body, response }]) => [
    ...(body?.schema === name ? [`body of ${operation}`] : []),
    ...(response.type === 'json' && response.schema === name ? [`response of ${operation}`] : []),
  ]);
  return uses.join(', ');
}
