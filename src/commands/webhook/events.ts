import { defineCommand } from '../../cli/define.ts';
import { eventNames, olderNames, sameEvents } from '../../integrations/webhooks/listener.ts';
import { checkUuid, eachId } from '../../run/ids.ts';
import { isWithin, spanOptions } from '../../run/span.ts';
import { eventList, eventView, isActedOn, readEventIds, shownEvent } from './columns.ts';

const defaultLimit = 50;
const maxChecked = 1_000;

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
      description: `how many (default ${defaultLimit}; with --failed all)`,
    },
    ...spanOptions,
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
  output: [{ list: 'StoredEvent' }, { record: 'StoredEvent', when: 'for one id' }],
  readsOnly: true,
  related: ['webhook listen', 'webhook replay'],
  async run(context, { ids = [], event, order, failed = false, limit, all = false, since, until }) {
    const requested = await readEventIds(context, ids);
    const { events: log } = await context.webhooks();
    const [only] = requested;
    if (only !== undefined && requested.length === 1)
      return { kind: 'record', record: { ...shownEvent(log.get(only)) }, ...eventView };
    if (ids.length > 0) {
      const read = async (id: string) => ({ ...shownEvent(log.get(Number(id))) });
      return {
        kind: 'list',
        ...eventList(true),
        empty: 'no ids given',
        ...eachId(context, requested.map(String), read),
      };
    }
    for (const line of olderNames(event ?? [])) context.note(`note: ${line}`);
    // Failed events require action, so show all of them unless the user sets a limit.
    const isWhole = all || (limit === undefined && failed);
    const max = isWhole ? Number.POSITIVE_INFINITY : (limit ?? defaultLimit);
    const filter = {
      events: event && sameEvents(event),
      orderId: order === undefined ? undefined : checkUuid('order id', order),
      failed,
    };
    return {
      kind: 'list',
      rows: shown(),
      ...eventList(hasActed()),
      empty: 'no event matches; `errand webhook listen` receives them',
    };

    function* found() {
      for (const one of log.list(filter)) if (isWithin(one.received_at, { since, until })) yield one;
    }

    function* shown() {
      for (const one of first(found(), max)) yield { ...shownEvent(one) };
    }

    /**
     * Whether any event shown on the terminal was forwarded or has triggered a command. If there are too many events to
     * check, returns true.
     */
    function hasActed(): boolean {
      if (context.output.format !== 'table') return false;
      if (failed) return true;
      let checked = 0;
      for (const one of first(found(), max)) {
        checked += 1;
        if (isActedOn(one) || checked > maxChecked) return true;
      }
      return false;
    }
  },
});

function* first<T>(values: Iterable<T>, max: number): Generator<T> {
  let count = 0;
  for (const value of values) {
    if (count >= max) return;
    count += 1;
    yield value;
  }
}
