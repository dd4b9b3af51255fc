import type { Context } from '../context.ts';
import { type AmountUnit, amountUnits } from '../contract/amount.ts';
import { UsageError } from '../errors.ts';
import { shellWord } from '../shell-word.ts';
import { delimiters } from './beginning.ts';
import { type ColumnMap, checkMap } from './columns.ts';
import { encodings } from './decode.ts';
import type { RowsOptions } from './rows.ts';

const named = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;

/** How a CSV file is to be read. */
export const tableOptions = {
  map: {
    kind: 'pairs',
    placeholder: "'Heading=column'",
    description: 'what a heading means: max_price_cents, metadata.team …; repeat it for more',
  },
  useMap: { kind: 'text', completes: 'maps', placeholder: 'name', description: 'a saved map of headings' },
  saveMap: { kind: 'text', placeholder: 'name', description: 'save the map that was used' },
  amounts: {
    kind: 'choice',
    values: amountUnits,
    description: 'what bare whole numbers under max_price are; max_price_cents is cents',
  },
  encoding: { kind: 'choice', values: encodings, description: 'of the file, where no mark in it tells' },
  delimiter: {
    kind: 'choice',
    values: Object.keys(named) as (keyof typeof named)[],
    description: 'between cells; found by itself',
  },
} as const;

/** How a batch is followed by others than the command. */
export const notifyOnComplete = {
  kind: 'flag',
  description: 'have the service tell you when the last row is placed or has failed',
} as const;

/** How a CSV file is to be read, as the flags say it. */
export interface TableFlags {
  readonly map?: ColumnMap | undefined;
  readonly useMap?: string | undefined;
  readonly saveMap?: string | undefined;
  readonly amounts?: AmountUnit | undefined;
  readonly encoding?: (typeof encodings)[number] | undefined;
  readonly delimiter?: keyof typeof named | undefined;
}

/** The options as the reader takes them; the map is saved where that was requested. @throws UsageError. */
export async function readTableOptions(
  context: Context,
  { map = {}, useMap, saveMap, amounts = context.settings.amounts, encoding, delimiter }: TableFlags,
): Promise<Omit<RowsOptions, 'name'>> {
  const saved = useMap === undefined ? {} : (await context.store()).map(useMap);
  const whole = { ...saved, ...checkMap(map) };
  if (saveMap !== undefined) {
    if (Object.keys(whole).length === 0) throw new UsageError('--save-map has nothing to save; give --map');
    await (await context.store()).setMap(saveMap, whole);
  }
  return {
    map: whole,
    ...(amounts !== undefined && { amounts }),
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter: named[delimiter] ?? delimiters[0] }),
  };
}

/** The flags that have another command read the file the same way, each after a space. */
export function tableFlags({ map = {}, useMap, amounts, encoding, delimiter }: TableFlags): string {
  const flags = [
    ...(useMap === undefined ? [] : [`--use-map ${shellWord(useMap)}`]),
    ...Object.entries(map).map(([heading, column]) => `--map ${shellWord(`${heading}=${column}`)}`),
    ...(amounts === undefined ? [] : [`--amounts ${amounts}`]),
    ...(encoding === undefined ? [] : [`--encoding ${encoding}`]),
    ...(delimiter === undefined ? [] : [`--delimiter ${delimiter}`]),
  ];
  return flags.map((flag) => ` ${flag}`).join('');
}
