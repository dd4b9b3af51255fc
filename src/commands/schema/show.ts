import { type JsonObject, own } from '../../api/json.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import type { Output } from '../../api/outputs/index.ts';
import { defineCommand } from '../../cli/define.ts';
import { forTable } from '../../format/for-table.ts';
import { plainText } from '../../format/path.ts';
import type { ListResult, OutputOptions, RecordResult } from '../../format/result.ts';
import { UsageError } from '../../platform/errors.ts';
import { operationColumns, operationDetailColumns, operationRecord, operationRows } from './operation.ts';
import { type Table, tables } from './tables.ts';

export const show = defineCommand({
  name: 'show',
  summary: 'The contract: operations, shapes, enums, limits, errors',
  description:
    'Without a name, everything there is. A name is that of an operation (order.create, or "POST /orders"), a shape (OrderCreate), a list of values, a limit, an error code, or one of operations, shapes, enums, limits, events, errors. A shape is shown as its fields, and with -o json as JSON Schema. Nothing is sent.',
  arguments: [{ name: 'name', description: 'what to show' }],
  isDefault: true,
  examples: [
    {
      command: 'errand schema order.list',
      note: 'one operation: parameters, bounds, body, response, errors',
    },
    { command: 'errand schema OrderCreate -o json', note: 'a shape as JSON Schema' },
    { command: 'errand schema errors', note: 'every error, and what to do about it' },
    {
      command: 'errand schema operations -o csv --fields name,method,path',
      note: 'the endpoints, for a script',
    },
  ],
  output: [
    { list: 'ContractRow', when: 'without a name, and of a list' },
    { record: 'ContractOperation', when: 'of an operation' },
    { record: 'JsonSchema', when: 'of a shape' },
    { record: 'ContractRow', when: 'of anything else' },
  ],
  readsOnly: true,
  related: ['schema diff', 'api'],
  async run({ output }, { name }) {
    const shapes = await import('./shape.ts');
    const topics: Readonly<Record<string, Table>> = {
      operations: { summary: '', columns: operationColumns, id: 'name', rows: operationRows },
      shapes: { summary: '', columns: shapes.shapeColumns, id: 'name', rows: shapes.shapeRows },
      ...tables,
    };
    if (name === undefined) return overview(topics);
    const exact = resolve(name, topics);
    if (isOperation(exact))
      return { kind: 'record', record: operationRecord(exact), columns: operationDetailColumns, id: 'name' };
    if (shapes.isShape(exact)) return shapes.shapeResult(exact, output);
    const topic = Object.hasOwn(topics, exact) ? topics[exact] : undefined;
    return topic ? listOf(topic) : oneRow(exact, output);
  },
});

type ContractRow = Output<'ContractRow'>;

const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name);

const listOf = ({ rows, columns, id }: Table): ListResult<ContractRow> => ({
  kind: 'list',
  rows,
  columns,
  id,
});

/** Every name with its kind; errors by their table alone, as there are many. */
function overview(topics: Readonly<Record<string, Table>>): ListResult<ContractRow> {
  const named = Object.entries(topics).filter(([topic]) => topic !== 'errors');
  return {
    kind: 'list',
    id: 'name',
    columns: [
      { name: 'name', path: 'name', weight: 3 },
      { name: 'kind', path: 'kind', weight: 2 },
      { name: 'summary', path: 'summary', weight: 1 },
    ],
    rows: [
      ...named.flatMap(([topic, { rows, id }]) =>
        rows.map((row) => ({
          name: String(own(row, id)),
          kind: topic.replace(/s$/, ''),
          summary: summaryOf(row),
        })),
      ),
      { name: 'errors', kind: 'table', summary: tables.errors.summary },
    ],
    hints: () => ['errand schema NAME shows one'],
  };
}

function summaryOf({
  method,
  path,
  summary,
  used_by: uses,
  values,
  sent_when: when,
  ...row
}: JsonObject): string {
  if (typeof method === 'string') return `${method} ${path}  ${summary}`;
  const { name: _, ...bounds } = row;
  const spelled = Object.entries(bounds).map(([bound, value]) => `${bound} ${value}`);
  const said = plainText(uses ?? when);
  return said !== '' ? said : Array.isArray(values) ? values.join(', ') : spelled.join(', ');
}

/** A list of values, a limit, an event or an error by its name; an error may be a code and an error_type. */
function oneRow(name: string, output: OutputOptions): ListResult<ContractRow> | RecordResult<ContractRow> {
  const all: readonly Table[] = Object.values(tables);
  const table = all.find(({ rows, id }) => rows.some((row) => own(row, id) === name));
  const rows = table?.rows.filter((row) => own(row, table.id) === name) ?? [];
  const [only] = rows;
  if (!table || !only) throw new UsageError(`the contract has no "${name}"`);
  if (rows.length > 1) return listOf({ ...table, rows });
  const values = own(only, 'values');
  if (Array.isArray(values) && output.format === 'id') {
    return { kind: 'list', rows: forTable(values.map((id) => ({ id }))), columns: [] };
  }
  return { kind: 'record', record: only, columns: table.columns, id: table.id };
}

/** The contract's own spelling of a name; `METHOD PATH` is that of an operation. @throws UsageError. */
function resolve(name: string, topics: Readonly<Record<string, Table>>): string {
  const names = [
    ...Object.keys(topics),
    ...Object.values(topics).flatMap(({ rows, id }) => rows.map((row) => String(own(row, id)))),
  ];
  const wanted = name.trim().toLowerCase();
  const endpoint = operationRows.find(({ method, path }) => `${method} ${path}`.toLowerCase() === wanted);
  const found =
    endpoint?.name ?? names.find((it) => it === name) ?? names.find((it) => it.toLowerCase() === wanted);
  if (found !== undefined) return String(found);
  const near = [...new Set(names)].filter((it) => isNear(it, wanted)).slice(0, 5);
  const meant = near.length > 0 ? `; did you mean ${near.join(', ')}?` : '';
  throw new UsageError(`the contract has no "${name}"${meant}`, {
    next: [{ command: 'errand schema', when: 'to see all names' }],
  });
}

/** Whether one name is in the other, but for case, punctuation and plurals. */
function isNear(name: string, wanted: string): boolean {
  const [a, b] = [name, wanted].map((text) => text.toLowerCase().replace(/[^a-z]|s/g, ''));
  if (a === undefined || b === undefined || b.length < 3) return false;
  return a.includes(b) || (a.length > 4 && b.includes(a));
}
