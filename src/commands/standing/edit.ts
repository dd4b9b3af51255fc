import { defineCommand } from '../../cli/define.ts';
import { assembleOrder } from '../../orders/input/assemble.ts';
import { UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import { type EntryChange, fileOption } from '../../standing/file.ts';
import { entryOrderOptions, scheduleFields, scheduleOptions } from '../../standing/options.ts';
import { entryResult, ordersIfHeard } from './result.ts';

/** Fields that `--clear` accepts, keyed by their name on the command line. */
const clearable: Readonly<Record<string, string>> = {
  ends: 'ends',
  count: 'count',
  at: 'at',
  'time-zone': 'time_zone',
  late: 'late',
};

/**
 * Returns each field to clear with the value undefined.
 * @throws UsageError if another flag sets the same field.
 */
function cleared(names: readonly string[], given: object): Readonly<Record<string, undefined>> {
  const fields = Object.entries(clearable).filter(([name]) => names.includes(name));
  const [twice] = fields.find(([, field]) => Object.hasOwn(given, field)) ?? [];
  if (twice === undefined) return Object.fromEntries(fields.map(([, field]) => [field, undefined]));
  throw new UsageError(`--clear ${twice} takes away what another flag gives; leave one of them out`);
}

export const edit = defineCommand({
  name: 'edit',
  summary: 'Change what a standing order buys, or when',
  description:
    'Flags replace what the file says; --file replaces the whole order, and comments of the file stay. Dates that were bought stay bought: where the dates move, one that is nearer than half of the cadence to a date that was bought is left out, and `standing show` says so. No date that is past already comes in. The file may also be edited by hand.',
  arguments: [
    { name: 'name', completes: 'standing', description: 'name of the standing order', required: true },
  ],
  options: {
    ...scheduleOptions,
    starts: { ...scheduleOptions.starts, description: 'first date, such as 2026-12-01' },
    at: { ...scheduleOptions.at, description: 'local time of day' },
    timeZone: { ...scheduleOptions.timeZone, description: 'such as Europe/Berlin' },
    late: { ...scheduleOptions.late, description: 'how late a date is still bought, such as 2d' },
    clear: {
      kind: 'list',
      values: Object.keys(clearable),
      group: 'Schedule',
      description: 'take away what is set',
    },
    live: { kind: 'yes-no', group: 'Schedule', description: 'whether it may spend real money' },
    follows: {
      kind: 'text',
      placeholder: 'version',
      group: 'Schedule',
      description: 'a version of it that another machine has, and that this file replaces',
    },
    ...fileOption,
    ...entryOrderOptions,
  },
  examples: [
    { command: "errand standing edit coffee --max-price '$60'", note: 'raise its ceiling' },
    { command: 'errand standing edit coffee --every 1mo --starts 2027-01-05', note: 'other dates' },
    { command: 'errand standing edit coffee --clear ends,count', note: 'it goes on without an end' },
  ],
  output: { record: 'StandingOrder' },
  needsKey: true,
  exitCodes: { 4: 'there is no such standing order', 130: 'the answer was not yes, and nothing was changed' },
  related: ['standing show', 'standing skip', 'standing pause'],
  async run(context, { name, standing, live, follows, clear = [], ...input }) {
    const [
      { changeEntryFile, checkEntryChange, entriesOf, entryNamed, readEntryFile },
      change,
      { countAfter },
      { serviceTime },
      { countEntry, isOfOtherSchedule, timesOf },
      { RunMemory },
    ] = await Promise.all([
      import('../../standing/file.ts'),
      import('../../standing/change.ts'),
      import('../../standing/plan.ts'),
      import('../../standing/service-time.ts'),
      import('../../standing/counting.ts'),
      import('../../standing/memory.ts'),
    ]);
    const file = readEntryFile(context, standing);
    const before = entryNamed(await entriesOf(file), name, file.path);
    const fields = { ...scheduleFields(input), ...cleared(clear, scheduleFields(input)) };
    const orderFlags = Object.keys(entryOrderOptions).filter((key) => Object.hasOwn(input, key));
    const isOrder = orderFlags.length > 0;
    if (!isOrder && Object.keys(fields).length === 0 && live === undefined && follows === undefined)
      throw new UsageError(`say what to change in ${name}, or edit ${file.path} by hand`, {
        next: [{ command: typedCommand(['standing', 'edit', '--help']), when: 'to see what can be changed' }],
      });
    const order = isOrder ? await orderOf() : before.order;
    const isLive = live ?? before.agreement !== undefined;
    const isChanged = isOrder || Object.keys(fields).length > 0;
    const isRescheduled = Object.keys(fields).length > 0;
    const known = new RunMemory(context).schedule(before.id);
    const isByHand = isOfOtherSchedule(before);
    const editing =
      (now: number, agreed: true | 'policy' | undefined): EntryChange =>
      (document, entries, path, parse) => {
        const entry = entryNamed(entries, name, path);
        const at = ['orders', name];
        const whole = {
          ...(fields.every !== undefined && { dates: undefined }),
          ...(fields.dates !== undefined && {
            every: undefined,
            starts: undefined,
            ends: undefined,
            count: undefined,
          }),
          ...fields,
          ...(live === false && { live: undefined }),
          ...(agreed !== undefined && { live: agreed }),
        };
        // Compare with null, so that every field that was given is written and every field that is undefined is
        // removed.
        const any = Object.fromEntries(Object.keys(whole).map((field) => [field, null]));
        change.setFields(document, at, any, whole);
        if (isOrder) {
          const gone = Object.keys(entry.order).filter((key) => !Object.hasOwn(order, key));
          const next = { ...order, ...Object.fromEntries(gone.map((key) => [key, undefined])) };
          change.setFields(document, [...at, 'order'], entry.order, next);
        }
        if (isChanged) change.addFormer(document, entry, entry.version);
        else if (follows !== undefined) change.addFormer(document, entry, follows);
        if (!isRescheduled && !isByHand) return;
        const counted = countEntry(entry, known, timesOf(context, file, now)).entry;
        const named = fields.starts !== undefined || fields.dates !== undefined;
        const next = entryNamed(parse(), name, path);
        const after = isRescheduled ? countAfter(counted, next, now, { named }) : undefined;
        const since = after ? after.since : counted.since;
        if (since !== undefined) change.setSince(document, next, since);
        change.addSkipped(document, entry, after ? after.left : counted.skipped);
      };
    await checkEntryChange(context, standing, editing(context.clock.now(), undefined));
    const now = isRescheduled || isByHand ? await serviceTime(context) : context.clock.now();
    const agreed = isLive && (isChanged || !before.agreement) ? await agreement() : undefined;
    const changed = await changeEntryFile(context, standing, editing(now, agreed));
    const orders = await ordersIfHeard(context, changed, name);
    return entryResult(context, changed, name, standing, orders);

    async function agreement(): Promise<true | 'policy'> {
      const { agreeToSpend } = await import('../../standing/consent.ts');
      const { scheduleText, shownEntry } = await import('../../standing/shown.ts');
      const was = scheduleText(shownEntry(before, file.path, now));
      const given = Object.entries(fields).map(([field, value]) =>
        `; now ${value === undefined ? 'no' : ''} ${[field, value].join(' ')}`.replace('_', ' '),
      );
      return agreeToSpend(context, { name, order, when: `${was}${given.join('')}` });
    }

    async function orderOf() {
      const { payload, ofFile } = await assembleOrder(context, input, {
        base: before.order,
        searches: false,
      });
      const { orderToKeep } = await import('./order-to-keep.ts');
      return orderToKeep(payload, ofFile, input.file);
    }
  },
});
