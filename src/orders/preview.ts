import { ErrandError } from '../errors.ts';
import type { OrderContext } from '../order-context.ts';
import { anotherOf } from '../state/another.ts';
import { journalCommand } from '../state/journal-command.ts';
import { journalExists } from '../state/journal-tables.ts';
import { damagedRecord, sentWithAnother } from '../state/take-over.ts';
import type { Twin } from '../state/twins.ts';
import { whereFlags } from '../where-flags.ts';
import type { IntentOf } from './intent.ts';
import { isKeyOld } from './key-life.ts';
import type { JournaledOperation } from './order-record.ts';
import { type RepeatRule, twinRule } from './repeats.ts';
import { isKeyed, thingOf } from './things.ts';

/**
 * The idempotency key for a request that is shown, not sent: that of an earlier record of the same intent, so that whoever
 * sends the request makes no second order. A note tells of the record. Nothing is written, and a journal that cannot be
 * read does not keep the request from being shown.
 */
export async function previewKey<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  rule: RepeatRule,
): Promise<string | undefined> {
  const twins = twinRule(context, rule);
  if (!twins || !journalExists(context.settings)) return undefined;
  try {
    const twin = (await context.journal()).see(intent, twins);
    if (!twin) return undefined;
    context.note(noteOf(context, twin));
    return twin.situation === 'damaged' ? undefined : twin.record.key;
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(
      `the journal cannot say whether the same ${thingOf(intent.operation).one} is in doubt: ${error.message}`,
    );
    return undefined;
  }
}

function noteOf(context: OrderContext, { situation, record }: Twin): string {
  if (situation === 'damaged') return damagedRecord(record).message;
  const { one } = thingOf(record.operation);
  const resume = journalCommand('resume', record.key, whereFlags(context));
  const settles = situation === 'repeated' ? '' : ` (\`${resume}\` settles that)`;
  const sending = !isKeyed(record.operation)
    ? `sending this request may make a second one`
    : isKeyOld(record, context.clock.now())
      ? `this request carries its key, which the service may no longer know: sending it may make a second ${one}`
      : `this request carries its key, so that sending it makes no second ${one}`;
  return `${whatIsKnown(situation, record)}${settles}; ${sending} (${anotherOf(record)})`;
}

function whatIsKnown(situation: Twin['situation'], record: Twin['record']): string {
  const { one, made } = thingOf(record.operation);
  const { pid, created_at: since, settled_at: at, order_id: id } = record;
  switch (situation) {
    case 'other_key':
      return sentWithAnother(record).message;
    case 'at_work':
      return `process ${pid} is placing the same ${one} at this moment`;
    case 'unreported':
    case 'repeated':
      return `the same ${one} was ${made} at ${at}: ${id}`;
    default:
      return `the same ${one} is in doubt since ${since}`;
  }
}
