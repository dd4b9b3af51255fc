import { defineCommand } from '../../cli/define.ts';
import { assembleOrder } from '../../orders/input/assemble.ts';
import { UsageError } from '../../platform/errors.ts';
import { dateText, dayAt } from '../../standing/cadence.ts';
import { type EntryChange, fileOption } from '../../standing/file.ts';
import { entryOrderOptions, scheduleFields, scheduleOptions } from '../../standing/options.ts';
import { entryResult } from './result.ts';

export const add = defineCommand({
  name: 'add',
  summary: 'Have an order placed again and again: what, and on which dates',
  description:
    'From flags, or an order file, as `order create` takes them. All that decides is written to the file: what is bought, the ceiling, the address, the dates. Nothing is ordered until `standing run`. With a live key somebody types yes at a terminal, or a policy holds.',
  arguments: [{ name: 'name', description: 'what you call it', required: true }],
  options: { ...scheduleOptions, ...fileOption, ...entryOrderOptions },
  positional: 'product',
  examples: [
    {
      command:
        'errand standing add coffee --file order.json --every 2w --starts 2026-12-01 --time-zone Europe/Berlin',
      note: 'every other Tuesday, at the start of the day in Berlin',
    },
    {
      command:
        "errand standing add filters --product $URL --max-price '$40' --ship-to home --every 1mo --late 2d --count 12",
      note: 'each month, a year long, bought up to two days late',
    },
  ],
  output: { record: 'StandingOrder' },
  needsKey: true,
  exitCodes: { 130: 'the answer was not yes, and nothing was changed' },
  related: ['standing run', 'standing show', 'order create'],
  async run(context, { name, standing, ...input }) {
    const [
      { changeEntryFile, checkEntryChange, entryNamed },
      { addEntry, setSince },
      { newId, namePattern, entryDefaults, readableZone },
      { sinceFor },
    ] = await Promise.all([
      import('../../standing/file.ts'),
      import('../../standing/change.ts'),
      import('../../standing/entries.ts'),
      import('../../standing/plan.ts'),
    ]);
    if (!namePattern.test(name))
      throw new UsageError(
        `"${name}" cannot name a standing order: letters, digits, . _ - only, at most 64, a letter or digit first`,
      );
    if (input.every === undefined && input.dates === undefined)
      throw new UsageError('give --every, such as 2w, or --dates');
    const timeZone = readableZone(input.timeZone ?? entryDefaults.time_zone);
    await context.ready();
    const { payload, ofFile } = await assembleOrder(context, input);
    const { orderToKeep } = await import('./order-to-keep.ts');
    const order = await orderToKeep(payload, ofFile, input.file);
    const isLive = !context.isRehearsal();
    const id = newId();
    const fields = scheduleFields(input);
    const adding =
      (now: number, live: true | 'policy' | undefined): EntryChange =>
      (document, before, path, parse) => {
        const tomorrow = (): string => dateText(dayAt(timeZone, now) + 1);
        addEntry(document, before, name, {
          id,
          ...fields,
          ...(input.every !== undefined && { starts: input.starts ?? tomorrow() }),
          since: new Date(now).toISOString(),
          since_schedule: '0'.repeat(12),
          ...(live !== undefined && { live }),
          order,
        });
        // The value of `since` depends on the schedule, so the schedule has to be parsed first.
        const entry = entryNamed(parse(), name, path);
        setSince(document, entry, sinceFor(entry.schedule, now));
      };
    await checkEntryChange(context, standing, adding(context.clock.now(), undefined));
    const { serviceTime } = await import('../../standing/service-time.ts');
    const now = await serviceTime(context);
    const changed = await changeEntryFile(
      context,
      standing,
      adding(now, isLive ? await agreed() : undefined),
    );
    return entryResult(context, changed, name, standing, []);

    async function agreed(): Promise<true | 'policy'> {
      const { agreeToSpend } = await import('../../standing/consent.ts');
      const when = Object.entries(fields).map((pair) => pair.join(' ').replace('_', ' '));
      return agreeToSpend(context, { name, order, when: when.join(', ') });
    }
  },
});
