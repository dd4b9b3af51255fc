import { defineCommand } from '../../cli/define.ts';
import { UsageError } from '../../platform/errors.ts';
import { fileOption } from '../../standing/file.ts';
import { entryResult, fileFlag } from './result.ts';

export const skip = defineCommand({
  name: 'skip',
  summary: 'Leave out dates of a standing order',
  arguments: [
    { name: 'name', completes: 'standing', description: 'name of the standing order', required: true },
    { name: 'dates', description: 'dates to leave out, such as 2026-12-29', required: true, variadic: true },
  ],
  options: {
    undo: { kind: 'flag', description: 'buy them after all' },
    ...fileOption,
  },
  examples: [
    { command: 'errand standing skip coffee 2026-12-29', note: 'nobody is there to drink it' },
    { command: 'errand standing skip coffee 2026-12-29 --undo', note: 'somebody is' },
  ],
  output: { record: 'StandingOrder' },
  exitCodes: { 4: 'there is no such standing order' },
  related: ['standing pause', 'standing show'],
  async run(context, { name, dates, undo = false, standing }) {
    const [{ changeEntryFile, entryNamed }, { dateText, dayOf, occurrences }] = await Promise.all([
      import('../../standing/file.ts'),
      import('../../standing/cadence.ts'),
    ]);
    const days = dates.map((text) => {
      const day = dayOf(text);
      if (day === undefined) throw new UsageError(`a date is written 2026-12-29, not "${text}"`);
      return day;
    });
    const changed = await changeEntryFile(context, standing, (document, entries, path) => {
      const { schedule, skipped } = entryNamed(entries, name, path);
      const other = days.find((day) => occurrences(schedule, day, day).length === 0);
      if (other !== undefined && !undo)
        throw new UsageError(`${name} has no date ${dateText(other)}; nothing was changed`, {
          next: [{ command: `errand standing show ${name}${fileFlag(standing)}`, when: 'to see its dates' }],
        });
      const rest = undo ? skipped.filter((day) => !days.includes(day)) : [...new Set([...skipped, ...days])];
      if (rest.length === skipped.length) {
        context.note(
          `${undo ? 'none of these dates was left out' : 'these dates are left out already'}; nothing was changed`,
        );
        return;
      }
      const list = rest.toSorted((a, b) => a - b).map(dateText);
      if (list.length === 0) document.deleteIn(['orders', name, 'skip']);
      else document.setIn(['orders', name, 'skip'], document.createNode(list, { flow: true }));
    });
    return entryResult(context, changed, name, standing);
  },
});
