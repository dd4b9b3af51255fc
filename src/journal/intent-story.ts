import { isSignedBy, recordOfRow } from './audit-record.ts';
import { paidAccount } from './journal-record.ts';
import { endingKinds } from './lost-intents.ts';
import type { Mac } from './mac.ts';

/** What the audit chain says about an intent. */
export interface IntentStory {
  /**
   * Id of what the service made from the intent; undefined while the intent is in doubt, null if the service made
   * nothing.
   */
  readonly orderId: string | null | undefined;
  /**
   * Whether only unproven entries say how the intent ended. If so, the intent stays in doubt until the service is
   * queried.
   */
  readonly isContested: boolean;
  /** Id of the order that such an unproven entry names. */
  readonly claimedId: string | undefined;
  /** When the intent was last recorded, ISO 8601. */
  readonly since: string;
  /** SHA-256 of the intent's canonical content. */
  readonly content: string | undefined;
  /** Whether the verifying key has signed the intent. */
  readonly isOwn: boolean;
  /** Whether the `intent` entry says that the entries which end the intent are signed. */
  readonly endsAreSigned: boolean;
}

/**
 * Derives the state of an intent from its audit entries. Whoever can write to a shared journal can append entries, but
 * cannot sign them. Pure.
 * @param rows are the entries of the intent's key, in chain order.
 * @param mac verifies the entries; undefined if unsigned entries count too.
 */
export function storyOf(rows: readonly Row[], mac: Mac | undefined): IntentStory {
  const intents = rows.filter(({ kind }) => kind === 'intent');
  const hasSigned = intents.some((row) => !mac || isSignedBy(recordOfRow(row), mac));
  // If another machine has paid for an intent by challenge, that machine's key signs the intent. The machine may be
  // gone, and no list shows the order, so count the entries without verifying them.
  const isOthersPayment = !hasSigned && intents.every((row) => detailOf(row).account === paidAccount);
  const isProven = (row: Row): boolean => !mac || isOthersPayment || isSignedBy(recordOfRow(row), mac);
  let story = noStory;
  for (const row of rows) {
    const kind = String(row.kind);
    const orderId = kind === 'responded' ? String(row.order_id) : null;
    // If one intent of a key is signed, somebody else wrote the unsigned intents of that key.
    if (kind === 'intent')
      story = hasSigned && !isProven(row) ? story : { ...begun(row, story), isOwn: hasSigned };
    else if (!endingKinds.includes(kind) || story === noStory) continue;
    else if (isProven(row)) story = { ...story, orderId, isContested: false, claimedId: undefined };
    else if (story.orderId === undefined)
      story = { ...story, isContested: true, claimedId: orderId ?? story.claimedId };
  }
  return story;
}

const detailOf = (row: Row): Row => Object(recordOfRow(row).detail);

type Row = Readonly<Record<string, unknown>>;

const noStory: IntentStory = {
  ...{ orderId: null, isContested: false, claimedId: undefined, since: '' },
  ...{ content: undefined, isOwn: false, endsAreSigned: false },
};

function begun(row: Row, { since, endsAreSigned }: IntentStory): Omit<IntentStory, 'isOwn'> {
  const { ends, content } = detailOf(row);
  const time = String(row.time);
  return {
    ...{ orderId: undefined, isContested: false, claimedId: undefined },
    content: typeof content === 'string' ? content : undefined,
    since: time > since ? time : since,
    endsAreSigned: endsAreSigned || ends === 'signed',
  };
}
