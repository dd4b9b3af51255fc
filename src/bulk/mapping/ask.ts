import { mapPresets } from '../../config/map-presets.ts';
import { namePattern } from '../../config/stored.ts';
import { refusedBy } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';
import { centsHeading } from '../amounts.ts';
import { planTable } from '../columns.ts';
import type { HeadingMap } from '../headings.ts';
import type { Reading } from '../reading.ts';
import type { RowsOptions } from '../rows.ts';
import type { Source } from '../source.ts';
import { type TableFlags, tableWords, tellShadowed } from '../table-options.ts';
import { withUnitSetting } from '../unit-setting.ts';
import { addedTo, askColumns } from './ask-columns.ts';
import { askUnit } from './ask-unit.ts';
import { sampleOf } from './file-sample.ts';

/**
 * Asks a person what a file leaves open: which of its headings are the columns that are missing, and whether its prices are
 * dollars or cents. Tells the command that says it the next time, and saves the map under a name on request. What stays open
 * is refused by whoever reads the file. @throws ErrandError interrupted.
 */
export async function askReading(context: Context, source: Source, given: Reading): Promise<Reading> {
  const sample = await sampleOf(source, given.options);
  if (!sample) return given;
  const { name } = given.options;
  const chosen = await askColumns(context, name, sample, given.options);
  const options: RowsOptions = chosen
    ? await withUnitSetting(context, source, given.flags, { ...given.options, ...chosen })
    : given.options;
  const plan = () => planTable(name, sample.headings, options);
  // What is still wrong with the headings is said by the check, and nothing is saved of it.
  if (refusedBy(plan)('') !== undefined) {
    const answered = tableWords(answersOf(given, options));
    if (answered.length > 0)
      context.note(`what you chose so far: ${typedCommand([...context.argv, ...answered])}`);
    return { ...given, options };
  }
  const isOpen = options.amounts === undefined && !plan().isInCents;
  const unit = isOpen ? await askUnit(context, source, options) : undefined;
  const settled = chosen && unit === 'cents' ? inCents(chosen, given.options) : undefined;
  const map = (settled ?? options).map;
  const amounts = settled ? undefined : unit;
  if (!chosen && unit === undefined) return given;
  const added: TableFlags = { ...answersOf(given, { ...options, map }), amounts };
  context.note(`next time: ${typedCommand([...context.argv, ...tableWords(added)])}`);
  if (unit !== undefined) context.note(`\`errand config set amounts ${unit}\` settles this for every file`);
  const flags: TableFlags = {
    ...given.flags,
    ...added,
    map: { ...given.flags.map, ...added.map },
    ...(amounts === undefined && { amounts: given.flags.amounts }),
  };
  const asked = { options: { ...options, map, ...(amounts !== undefined && { amounts }) }, flags };
  if (chosen && (Object.keys(map).length > 0 || flags.saveMap !== undefined)) await saveMap(context, asked);
  return asked;
}

/** The flags that say which columns were chosen. */
const answersOf = (given: Reading, { map, preset }: HeadingMap): TableFlags => ({
  ...(given.flags.useMap === undefined && preset && { useMap: preset.name }),
  map: addedTo(given.options.map, map),
});

/** The map with cents under the heading that was chosen for the price; undefined where none was chosen. */
function inCents(chosen: HeadingMap, given: RowsOptions): HeadingMap | undefined {
  const added = Object.entries(addedTo(given.map, chosen.map));
  const [heading] = added.find(([, column]) => column === 'max_price') ?? [];
  return heading === undefined ? undefined : { ...chosen, map: { ...chosen.map, [heading]: centsHeading } };
}

async function saveMap(context: Context, { options, flags }: Reading): Promise<void> {
  const store = await context.store();
  const saved = { map: options.map, preset: options.preset?.name };
  if (flags.saveMap !== undefined) {
    await store.setMap(flags.saveMap, saved);
    return tellShadowed(context, flags.saveMap);
  }
  const check = (name: string): string | undefined => {
    if (!namePattern.test(name)) return 'a name has letters, digits, . _ - only, and at most 64 of them';
    if (mapPresets.has(name)) return `${name} is the map of an export; take another name`;
    return store.map(name) ? `there is a map ${name} already; take another name` : undefined;
  };
  const question = 'Save these columns as a map? Its name, or nothing';
  const name = await (await context.prompt()).askText(context, question, { check, optional: true });
  if (name === '') return;
  await store.setMap(name, saved);
  const more = tableWords({ useMap: name, amounts: flags.amounts }).join(' ');
  context.note(`saved; for the next file of this kind: ${more}`);
}
