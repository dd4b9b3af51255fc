import type { JsonObject } from '../../api/json.ts';
import type { PrintingCommand } from '../../api/outputs/printed.ts';
import { defineCommand } from '../../cli/define.ts';
import { inferColumns } from '../../cli/output/select.ts';
import { showsRows } from '../../cli/shows-rows.ts';
import type { Column, OutputOptions } from '../../format/result.ts';
import { UsageError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';

export const output = defineCommand({
  name: 'output',
  summary: 'What a command prints with -o json, as JSON Schema',
  description:
    'Without a name, every command with what it prints. A name is that of a command (order.list, or order list), or error: the line on stderr with which a command fails. A command whose result ended badly, such as a watch whose order failed or a check that found trouble, prints its record on stdout all the same, and says how it ended by its exit code. The schema is JSON Schema 2020-12, and its #/$defs/line is a line of -o ndjson; in the document of --all, #/$defs/order.list is what order list prints, #/$defs/order.list.line a line of it, and #/$defs/error a failure. Records of the service may have more fields than their schema, fewer than it names and other values than it lists, since the service may grow; records of errand have no others, but for the few whose schema leaves them open. What --dry-run, --curl, --fields and --query print is in no schema. With -o json and the like the schema is printed, in a table its fields. Nothing is sent.',
  arguments: [{ name: 'name', description: 'a command, or error', variadic: true, completes: 'commands' }],
  options: {
    all: { kind: 'flag', description: 'every schema, as one JSON document with a definition for each' },
  },
  examples: [
    { command: 'errand schema output order list', note: 'the fields of each order' },
    { command: 'errand schema output order.list -o json', note: 'as JSON Schema, for a validator' },
    { command: 'errand schema output error -o json', note: 'of what any failure prints' },
    { command: 'errand schema output --all > schemas.json', note: 'all of them' },
  ],
  output: [
    { list: 'PublishedOutput', when: 'without a name' },
    { record: 'JsonSchema', when: 'of a name' },
  ],
  readsOnly: true,
  related: ['schema show', 'help output'],
  async run(context, { name: words = [], all = false }) {
    if (all && words.length > 0) throw new UsageError('--all prints every schema; leave the name out');
    if (words.length > 1 && words.some((word) => word.includes('.')))
      throw new UsageError(`give the name of one command, such as order.list; --all prints every schema`);
    if (all) checkPicking(context.output);
    const schemas = await import('../../api/outputs/schema.ts');
    const commands = await context.commands();
    if (all) {
      const document = schemas.outputSchemas(commands);
      return { kind: 'text', lines: [JSON.stringify(document, null, 2)], record: document };
    }
    if (words.length === 0) {
      const rows = commands.map((command) => ({
        name: schemas.outputName(command.path),
        aliases: command.aliases.map(schemas.outputName),
        prints: schemas.printedText(command),
      }));
      return {
        kind: 'list',
        rows: [
          ...rows,
          { name: 'error', aliases: [], prints: 'one ErrorOutput on stderr, of a command that fails' },
        ],
        columns,
        id: 'name',
        hints: () => ['errand schema output NAME shows one, and with -o json its JSON Schema'],
      };
    }
    const found = named(words.join('.'), commands, schemas.printedText);
    const schema = found === 'error' ? schemas.errorSchema() : schemas.outputSchema(found);
    if (!showsRows(context.output))
      return { kind: 'record', record: schema, columns: inferColumns([schema]) };
    const { fieldList, printedColumns } = await import('./shape.ts');
    const description = String(schema.description);
    const isJson = found === 'error' || schemas.printsJson(found);
    return fieldList(
      recordPart(schema),
      isJson ? [description, '-o json gives the JSON Schema'] : [description],
      printedColumns,
    );
  },
});

const columns: readonly Column[] = [
  { name: 'name', path: 'name', weight: 9 },
  { name: 'prints', path: 'prints', weight: 8, isProse: true },
];

/** Returns the schema of the records that a table shows. If the output is a list, this is the schema of one record. */
const recordPart = (schema: JsonObject): JsonObject =>
  schema.type === 'array' ? { ...Object(schema.items), $defs: schema.$defs } : schema;

/** @throws UsageError for --query or --fields with output that is not JSON. */
function checkPicking(given: OutputOptions): void {
  const flag = given.query !== undefined ? '--query' : given.fields !== undefined ? '--fields' : undefined;
  if (flag !== undefined && showsRows({ ...given, query: undefined }))
    throw new UsageError(`${flag} picks from JSON: add -o json to --all`);
}

/** @throws UsageError suggesting close names. */
function named(
  asTyped: string,
  commands: readonly PrintingCommand[],
  printedText: (command: PrintingCommand) => string,
): PrintingCommand | 'error' {
  const name = asTyped.toLowerCase();
  if (name === 'error') return name;
  const typed = ({ path, aliases }: PrintingCommand): string[] =>
    [path, ...aliases].map((words) => words.replaceAll(' ', '.'));
  const found = commands.find((command) => typed(command).includes(name));
  if (found) return found;
  const names = commands.flatMap((command) => typed(command).slice(0, 1));
  const printing = commands.filter((command) =>
    printedText(command)
      .split(/[^\w]+/)
      .includes(asTyped),
  );
  const isRecord = /^[A-Z]/.test(asTyped) && printing.length > 0;
  const below = names.filter((one) => one.startsWith(`${name}.`)).slice(0, maxSuggestions);
  const near = isRecord
    ? printing.flatMap((command) => typed(command).slice(0, 1)).slice(0, maxSuggestions)
    : below.length > 0
      ? below
      : nearTo(name, [...names, 'error']);
  const suggestion = isRecord
    ? `; what prints it: ${near.join(', ')}`
    : near.length > 0
      ? `; did you mean ${near.join(', ')}?`
      : '';
  throw new UsageError(`there is no command "${asTyped.replaceAll('.', ' ')}"${suggestion}`, {
    next: [{ command: 'errand schema output', when: 'to see all names' }],
  });
}

/** Suggests the closest name. If no name is close, suggests the names that belong to the closest noun. */
function nearTo(name: string, names: readonly string[]): readonly string[] {
  const near = nearestWord(name, names);
  if (near !== undefined) return [near];
  const nounOf = (one: string): string => one.split('.')[0] ?? '';
  const noun = nearestWord(nounOf(name), [...new Set(names.map(nounOf))]);
  return names.filter((one) => nounOf(one) === noun).slice(0, maxSuggestions);
}

const maxSuggestions = 8;
