import type { Command as Commander } from 'commander';
import { isObject } from '../api/json.ts';
import type { PrintingCommand } from '../api/outputs/printed.ts';
import type { AnyCommand } from '../cli/define.ts';
import { definitions } from '../cli/help/page.ts';

/**
 * Facts that help to explain a mistyped command line: the flag to which a stray argument belongs, and the names that
 * `--fields` accepts.
 */
export async function factsOf(
  mounted: Commander | undefined,
  path: string,
  printing: () => Promise<readonly PrintingCommand[]>,
): Promise<{ readonly positionalFlag: string | undefined; readonly fields: readonly string[] }> {
  const command = mounted && definitions.get(mounted)?.command;
  const { positional } = command ?? {};
  return {
    positionalFlag: positional === undefined ? undefined : `--${positional}`,
    fields: command ? await fieldsOf(path, command, await printing()) : [],
  };
}

/** Headings and fields that `--fields` takes. */
async function fieldsOf(
  path: string,
  { columns = [] }: AnyCommand,
  commands: readonly PrintingCommand[],
): Promise<string[]> {
  const { outputSchema } = await import('../api/outputs/schema.ts');
  const found = commands.find((one) => [one.path, ...one.aliases].includes(path));
  const schema = found && outputSchema(found);
  const record: unknown = schema?.type === 'array' ? schema.items : schema;
  const fields = isObject(record) && isObject(record.properties) ? Object.keys(record.properties) : [];
  return [...new Set([...columns.map(({ name }) => name.replaceAll(' ', '-')), ...fields])];
}
