import type { Output } from '../../api/outputs/index.ts';
import {
  completingSteps,
  isInDoubt,
  type KnownUpload,
  knownUploads,
  unsentIn,
  unsentLines,
} from '../../bulk/upload/named.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { isWithin, spanOptions } from '../../run/span.ts';

type ListedUpload = Omit<Output<'BulkUpload'>, 'next'>;

const moods = { sent: 'past', 'cut short': 'waiting', 'in doubt': 'bad' } as const;

const columns: readonly Column<ListedUpload>[] = [
  { name: 'name', path: 'name', weight: 10 },
  { name: 'state', path: 'state', kind: 'status', weight: 9, mood: ({ state }) => moods[state as 'sent'] },
  { name: 'rows', path: 'rows', kind: 'count', weight: 8 },
  { name: 'sent', path: 'sent', kind: 'count', weight: 7 },
  {
    name: 'batches',
    path: 'batches',
    kind: 'count',
    weight: 5,
    value: ({ batches }) => [batches].flat().length,
  },
  { name: 'file', path: 'file', weight: 4 },
  { name: 'begun', path: 'created_at', kind: 'time', isLocal: true, weight: 6 },
];

export const uploads = defineCommand({
  name: 'uploads',
  summary: 'List the uploads of this machine by name, newest first',
  description:
    'An upload is all rows of a file, in as many batches as it takes; a retry joins the upload that it is of. Names are kept for 100 days after the last batch. `bulk list` lists the batches of the service, whoever made them.',
  options: spanOptions,
  examples: [
    { command: 'errand bulk uploads', note: 'what was uploaded, and what was cut short' },
    { command: "errand bulk uploads -o json --query '[].batches[]'", note: 'the ids of their batches' },
  ],
  output: { list: 'BulkUpload' },
  readsOnly: true,
  related: ['bulk upload', 'bulk resume', 'bulk watch', 'bulk list'],
  async run(context, { since, until }) {
    const known = (await knownUploads(context)).filter(({ createdAt }) =>
      isWithin(createdAt, { since, until }),
    );
    return {
      kind: 'list',
      rows: known.map((upload) => ({ ...listedUpload(upload), next: completingSteps(context, [upload]) })),
      columns,
      id: 'name',
      empty: 'nothing was uploaded from this machine',
      hints: () =>
        known
          .filter((upload) => stateOf(upload) !== 'sent')
          .slice(0, 3)
          .flatMap((upload) => [
            ...unsentLines([upload]),
            ...completingSteps(context, [upload]).map(({ command }) => `go on: ${command}`),
          ]),
    };
  },
});

function stateOf(upload: KnownUpload): ListedUpload['state'] {
  if (isInDoubt(upload)) return 'in doubt';
  return unsentIn(upload) > 0 ? 'cut short' : 'sent';
}

function listedUpload(upload: KnownUpload): ListedUpload {
  const { name, file, rows, sent, batches, createdAt } = upload;
  return {
    ...{ name, state: stateOf(upload), file, rows, sent },
    batches: batches.flatMap(({ id }) => id ?? []),
    created_at: createdAt,
  };
}
