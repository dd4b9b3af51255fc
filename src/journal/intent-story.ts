import { isSignedBy, recordOfRow } from './audit-record.ts';
import { paidAccount } from './journal-record.ts';
import { endingKinds } from './lost-intents.ts';
import type { Mac } from './mac.ts';

/** What the audit chain says of an intent. */
export interface IntentStory {
  /** Id of what the service made of it; undefined while that is in doubt, null if it made nothing. */
  readonly orderId: string | null | undefined;
  /** Whether the chain says how the intent ended without proof, so that it stays in doubt until the service is asked. */
  readonly isContested: boolean;
  /** Order that an unproven entry names. */
  readonly claimedId: string | undefined;
  /** When it was last recorded, ISO 8601. */
  readonly since: string;
  /** SHA-256 of its canonical content. */
  readonly content: string | undefined;
  /** Whether the verifying key has signed it. */
  readonly isOwn: boolean;
  /** Whether its own entry says that its ends are signed. */
  readonly endsAreSigned: boolean;
}

/**
 * Reads an intent's entries. Whoever can write to a shared journal can append to them, but cannot sign.
 * @param rows are the entries of its key, in chain order. @param mac verifies them; undefined if they count unsigned, too.
 * Pure.
 */
export function storyOf(rows: readonly Row[], mac: Mac | undefined): IntentStory {
  const intents = rows.filter(({ kind }) => kind === 'intent');
  const hasSigned = intents.some((row) => !mac || isSignedBy(recordOfRow(row), mac));
  // What another machine has paid for is listed nowhere, and signed by that machine, which may be gone.
  const isOthersPayment = !hasSigned && intents.every((row) => detailOf(row).account === paidAccount);
  const isProven = (row: Row): boolean => !mac || isOthersPayment || isSignedBy(recordOfRow(row), mac);
  let story = noStory;
  for (const row of rows) {
    const kind = String(row.kind);
    const orderId = kind === 'responded' ? String(row.order_id) : null;
    // Where one intent of a key is signed, one that is not is somebody else's.
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
