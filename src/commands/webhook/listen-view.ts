import type { ListResult, StreamResult } from '../../format/result.ts';
import type { ListenRecord, ListenSummary, ShownEvent } from '../../integrations/webhooks/listen.ts';
import type { EventLog } from '../../journal/events.ts';
import { exitCodes } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { stoppedWith } from '../../platform/wait/stopped.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { eventColumns } from './columns.ts';
import { EventLines } from './event-lines.ts';
import type { Shown } from './shown.ts';

/** What was heard, as the output asks for it; the exit code is 0, 7 or 8, and 130 where it was interrupted. */
export function listenResult(
  context: Context,
  given: AsyncGenerator<ListenRecord>,
  shown: Shown,
  log: EventLog,
): StreamResult | ListResult<ListenRecord> {
  let code = 0;
  const records = untilStopped(context, given);
  const exitCode = (): number => code;
  const printed = (): Promise<void> => shown.allOut();
  const { format } = context.output;
  if (format === 'ndjson') return { kind: 'list', rows: every(), columns: [], exitCode, printed };
  const onScreen = format === 'table' && context.io.stdout.isTerminal;
  if (format === 'table') return { kind: 'stream', chunks: lines(), isPainted: onScreen, exitCode };
  return { kind: 'list', rows: eventsOnly(), columns: eventColumns, exitCode, printed };

  async function* every() {
    for await (const record of records) {
      conclude(record);
      yield { ...record };
    }
  }

  async function* lines(): AsyncGenerator<string> {
    const screen = onScreen ? await EventLines.open(context, log) : undefined;
    for await (const record of records) {
      conclude(record);
      if (record.type === 'ready') yield `listening on ${safeText(record.url)}\n`;
      if (record.type === 'event') yield `${screen?.line(record) ?? eventLine(record)}\n`;
      tell(context, record);
    }
  }

  async function* eventsOnly() {
    for await (const record of records) {
      conclude(record);
      if (record.type === 'ready') context.note(`listening on ${record.url}`);
      if (record.type === 'event') yield { ...record };
      tell(context, record);
    }
  }

  function conclude(record: ListenRecord): void {
    if (record.type === 'summary') code = exitCodeOf(record);
  }
}

/** The records to their end; an interruption comes after the summary, and says which command listens again. */
async function* untilStopped(
  context: Context,
  records: AsyncGenerator<ListenRecord>,
): AsyncGenerator<ListenRecord> {
  yield* records;
  try {
    context.signal.throwIfAborted();
  } catch (error) {
    const command = `errand webhook events${whereFlags(context)}`;
    const next = { command, when: 'what was received is kept' };
    throw stoppedWith(error, context.signal, 'stopped listening', next);
  }
}

function exitCodeOf({ ended, failed }: ListenSummary): number {
  if (ended === 'timeout') return exitCodes.deadline;
  return failed > 0 ? exitCodes.ended_badly : 0;
}

/** One event as a line: time, id, event, order, status, why it failed, and what is to be known of it. */
function eventLine(event: ShownEvent): string {
  const parts = [
    event.received_at,
    String(event.id),
    event.event ?? '-',
    event.order_id ?? '-',
    event.status ?? '-',
    event.error_type ?? '',
    event.verified === false ? `(not verified: ${event.message})` : '',
  ];
  return safeText(parts.filter((part) => part !== '').join('  '));
}

/** What is not an event is for people, on stderr. */
function tell(context: Context, record: ListenRecord): void {
  if (record.type === 'gap') context.note(`warning: ${record.message}`);
  if (record.type === 'forward')
    context.note(
      record.delivered
        ? `event ${record.id} forwarded to ${record.url}`
        : `event ${record.id} was not forwarded: ${record.message}; errand webhook replay ${record.id}`,
    );
  if (record.type === 'exec' && record.exit_code !== 0)
    context.note(
      `the command for event ${record.id} failed: ${record.message ?? `exit ${record.exit_code}`}`,
    );
  if (record.type === 'summary') context.note(summaryLine(record));
}

const summaryLine = ({ received, stored, duplicates, forwarded, failed }: ListenSummary): string =>
  `${received} received, ${stored} new, ${duplicates} ${duplicates === 1 ? 'duplicate' : 'duplicates'}, ${forwarded} forwarded, ${failed} failed`;
