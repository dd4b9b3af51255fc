import { isAbsolute, resolve } from 'node:path';
import { originOfProgram, ownEnvironment } from '../../config/actor.ts';
import { checkDatabaseUrl } from '../../config/base-url.ts';
import { makeStateFolder } from '../../config/paths.ts';
import { checkFingerprint } from '../../config/resolve.ts';
import { Journal } from '../../journal/journal.ts';
import { isOthers } from '../../journal/take-over.ts';
import { systemClock } from '../../platform/clock.ts';
import type { OrderSettings } from '../../run/order-context.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { aText, checkOptions, type Rule, required } from './checks.ts';
import { journalPartsOf, setJournalParts } from './journal-parts.ts';
import { nobodyAsks, placingSettings } from './placing-context.ts';

export interface JournalOptions {
  /**
   * Absolute path of the folder of the journal, which is created if it is missing. It may be the state folder of the
   * command line, or a folder of your own.
   */
  readonly folder: string;
  /** Absolute path of a YAML policy file with spending limits. Without this file, spending is unlimited. */
  readonly policy?: string | undefined;
  /**
   * Fingerprint of the SSH key that must have signed the policy published in the database: `SHA256:…`. Without it, this
   * is the key that the folder's machine trusts, as set by `errand policy trust`.
   */
  readonly policySigner?: string | undefined;
  /**
   * Address of a database: `postgres://<user>:<password>@<host>/<database>`. The journal is then stored in this
   * database and shared with other machines. The folder holds a local copy.
   */
  readonly database?: string | undefined;
  /** Name of this program in the audit chain. It consists of letters, digits and `._-`. */
  readonly program?: string | undefined;
}

/** An order in the journal whose outcome has not been reported yet. */
export interface UnsettledOrder {
  /** The order's `idempotency_key`. */
  readonly key: string;
  readonly baseUrl: string;
  /** When the order was first recorded, ISO 8601. */
  readonly since: string;
  /** Id of the order if the service has placed it. If null, the order is in doubt. */
  readonly orderId: string | null;
}

/**
 * Journal of the orders at a service. Each order is written to the journal before it is sent, and so survives a crash.
 */
export interface OrderJournal extends AsyncDisposable {
  readonly folder: string;
  /**
   * Orders that processes left unreported when they ended, oldest first. Settle each order by placing it again with its
   * key, or by calling `resumeOrder`.
   */
  unsettled(): readonly UnsettledOrder[];
  /** Closes the journal. Call this only while no order is being placed. */
  close(): Promise<void>;
}

/**
 * Opens the journal in a folder. It has the same format as the command line's journal, and `errand order journal list`
 * shows it if `ERRAND_STATE_DIR` names the folder. Any number of processes may share the journal.
 * @throws UsageError for an invalid option; StorageError if the journal cannot be read and written; ErrandError
 * `policy` if the policy cannot be used.
 */
export async function openJournal(options: JournalOptions): Promise<OrderJournal> {
  checkOptions('openJournal', options, rules);
  const { policy, program } = options;
  const policySigner =
    options.policySigner === undefined
      ? undefined
      : checkFingerprint(options.policySigner, 'the policySigner of openJournal');
  const folder = resolve(options.folder);
  const database = options.database === undefined ? undefined : databaseOf(options.database);
  const given = { folder, policy, policySigner, program: program ?? 'program', database };
  let opening: Promise<Journal> | undefined;
  const open = (): Promise<Journal> => {
    opening ??= openIn(folder, program, database);
    return opening;
  };
  try {
    await loadPolicy({
      settings: placingSettings({ ...given, baseUrl: '' }),
      journal: open,
      signal: new AbortController().signal,
      environment: ownEnvironment(),
      interactive: nobodyAsks,
      previewsRequests: false,
      note: () => {},
    });
  } catch (error) {
    // The policy of a team is read from the journal's database: left open, it keeps the program alive.
    await opening?.then((journal) => journal.close());
    throw error;
  }
  const journal = await open();
  const close = async (): Promise<void> => {
    if (!parts.isClosed) await journal.close();
    parts.isClosed = true;
  };
  const opened: OrderJournal = {
    folder,
    unsettled: () =>
      journalPartsOf(opened)
        .journal.list()
        .filter((record) => record.operation === 'order.create' && !isOthers(record))
        .map(({ key, base_url: baseUrl, created_at: since, order_id: orderId }) => ({
          key,
          baseUrl,
          since,
          orderId,
        })),
    close,
    [Symbol.asyncDispose]: close,
  };
  const parts = { ...given, journal, isClosed: false };
  setJournalParts(opened, parts);
  return opened;
}

async function openIn(
  folder: string,
  program: string | undefined,
  database: OrderSettings['database'],
): Promise<Journal> {
  makeStateFolder(folder, false, 'Give openJournal another');
  return Journal.open(folder, systemClock.now, {
    origin: originOfProgram(program, 'errand/safely'),
    shared: database && { address: database },
  });
}

function databaseOf(url: string): OrderSettings['database'] {
  return { ...checkDatabaseUrl(url, 'the database of openJournal'), from: 'flag', name: 'openJournal' };
}

const aPath = (takes: string): Rule => ({
  takes,
  is: (value) => typeof value === 'string' && isAbsolute(value),
});

const rules = {
  folder: required(aPath('the absolute path of a folder')),
  policy: aPath('the absolute path of a policy file'),
  policySigner: aText('the fingerprint of an SSH key'),
  database: aText('the address of a PostgreSQL database'),
  program: {
    ...aText('a name of at most 60 letters, digits and ._-'),
    is: (value: unknown) => typeof value === 'string' && /^[\w.-]{1,60}$/.test(value),
  },
};
