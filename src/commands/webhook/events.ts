import { defineCommand } from '../../cli/define.ts';
import { checkUuid, eachId } from '../../cli/ids.ts';
import { eventNames, olderNames, sameEvents } from '../../webhooks/names.ts';
import { eventDetailColumns, eventList, shownEvent } from './columns.ts';
import { readEventIds } from './event-ids.ts';

const usualLimit = 50;

export const events = defineCommand({
  name: 'events',
  aliases: ['list', 'ls', 'show'],
  summary: 'Events that were received, newest first; with ids, all of each',
  description: 'They are kept on this machine for 30 days.',
  arguments: [
    {
      name: 'ids',
      names: 'events',
      description: 'ids of events; - reads them from stdin',
      variadic: true,
    },
  ],
  options: {
    event: { kind: 'list', values: eventNames, description: 'only these' },
    order: { kind: 'text', names: 'orders', placeholder: 'id', description: 'only of this order' },
    failed: {
      kind: 'flag',
      description: 'only those that could not be forwarded, or whose command failed or never ran',
    },
    limit: {
      kind: 'integer',
      min: 1,
      description: `how many (default ${usualLimit}; with --failed all)`,
    },
    all: { kind: 'flag', description: 'to the end' },
  },
  examples: [
    { command: 'errand webhook events', note: 'the newest 50' },
    { command: 'errand webhook events --event status_updated --order $ORDER -o json', note: 'of one order' },
    {
      command: 'errand webhook events --failed -o id | errand webhook replay -',
      note: 'send again what failed',
    },
  ],
  readsOnly: true,
  related: ['webhook listen', 'webhook replay'],
  async run(context, { ids = [], event, order, failed = false, limit, all = false }) {
    const wanted = await readEventIds(context, ids);
    const { events: log } = await context.webhooks();
    const [only] = wanted;
    if (only !== undefined && wanted.length === 1)
      return { kind: 'record', record: { ...shownEvent(log.get(only)) }, columns: eventDetailColumns };
    if (ids.length > 0) {
      const read = async (id: string) => ({ ...shownEvent(log.get(Number(id))) });
      return {
        kind: 'list',
        ...eventList,
        empty: 'no ids given',
        ...eachId(context, wanted.map(String), read),
      };
    }
    for (const line of olderNames(event ?? [])) context.note(`note: ${line}`);
    const found = log.list({
      events: event && sameEvents(event),
      orderId: order === undefined ? undefined : checkUuid('order id', order),
      failed,
    });
    return {
      kind: 'list',
      rows: shown(),
      ...eventList,
      empty: 'no event matches; `errand webhook listen` receives them',
    };

    function* shown() {
      // What failed is to be dealt with, so none of it is left out unasked.
      const most = all
        ? Number.POSITIVE_INFINITY
        : (limit ?? (failed ? Number.POSITIVE_INFINITY : usualLimit));
      let count = 0;
      for (const one of found) {
        if (count >= most) return;
        count += 1;
        yield { ...shownEvent(one) };
      }
    }
  },
});
