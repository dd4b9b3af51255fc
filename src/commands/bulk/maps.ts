import type { Output } from '../../api/outputs/index.ts';
import { isCustomHeading } from '../../bulk/csv/headings.ts';
import { defineCommand } from '../../cli/define.ts';
import type { SavedMap } from '../../config/maps.ts';
import { mapPresets } from '../../config/maps.ts';
import type { StoredReference } from '../../config/stored.ts';
import type { Column } from '../../format/result.ts';

export const maps = defineCommand({
  name: 'maps',
  summary: 'List what headings --use-map knows: saved maps, and those of exports',
  description:
    'A map is saved with --save-map, with all that reading the file took: the headings that --own keeps, references, encoding, delimiter, quotes, locale, amounts, sheet and defaults. One is offered, too, when bulk upload, plan and validate have asked for columns. A saved map goes before the one of an export that has the same name; one that adds to an export is read with it.',
  examples: [{ command: 'errand bulk maps', note: 'saved maps, then those of exports' }],
  output: { list: 'HeadingMap' },
  readsOnly: true,
  related: ['bulk upload', 'bulk validate'],
  async run(context) {
    const store = await context.store();
    const saved = store.mapNames().flatMap((name) => {
      const map = store.map(name);
      return map ? [savedRow(name, map)] : [];
    });
    const own = new Set(store.mapNames());
    const presets = [...mapPresets.values()]
      .filter(({ name }) => !own.has(name))
      .map(
        ({ name, description, columns, reference }): Output<'HeadingMap'> => ({
          ...{ name, kind: 'export', adds_to: null, description },
          reference_columns: reference.map(([first = '']) => first),
          ...{ namespace: null, reading: {}, defaults: {} },
          columns: Object.entries(columns).flatMap(([column, headings]) =>
            headings.map((heading) => ({ heading, column })),
          ),
        }),
      );
    return { kind: 'list', rows: [...saved, ...presets], columns, screen, id: 'name' };
  },
});

const savedRow = (name: string, { map, preset, reference, reading }: SavedMap): Output<'HeadingMap'> => {
  const { defaults = {}, ...cells } = reading;
  const pairs = Object.entries(map).map(([heading, column]) => ({
    heading,
    column: isCustomHeading(map, heading) ? null : column,
  }));
  const rendered = pairs.map(({ heading, column }) => `${heading} is ${column ?? 'your own'}`).join(', ');
  const description = [
    ...(preset === undefined ? [] : [`as ${preset}`]),
    ...(rendered === '' && preset === undefined ? [] : [rendered]),
    ...(reference ? [referenceText(reference)] : []),
    ...Object.entries(cells).map(([what, value]) => `${what} ${value}`),
    ...Object.entries(defaults).map(([column, text]) => `${column} is ${text} where it is empty`),
  ].join('; ');
  return {
    ...{ name, kind: 'saved', adds_to: preset ?? null, description, columns: pairs },
    reference_columns: [...(reference?.columns ?? [])],
    namespace: reference?.namespace ?? null,
    ...{ reading: cells, defaults },
  };
};

function referenceText({ columns: headings, namespace }: StoredReference): string {
  const named = headings.length > 0 ? `references from ${headings.join(',')}` : 'references';
  return namespace === undefined ? named : `${named} in the namespace ${namespace}`;
}

const columns: readonly Column[] = [
  { name: 'name', path: 'name', weight: 10 },
  { name: 'kind', path: 'kind', weight: 9 },
  { name: 'adds to', path: 'adds_to', weight: 7 },
  { name: 'what it does', path: 'description', weight: 8, isProse: true },
];

/** Leaves out `adds_to`, because the description already includes it. */
const screen = columns.filter(({ path }) => path !== 'adds_to');
