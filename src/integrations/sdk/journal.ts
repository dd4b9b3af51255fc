import { isAbsolute, resolve } from 'node:path';
import { originOfProgram } from '../../config/actor.ts';
import { checkDatabaseUrl } from '../../config/base-url.ts';
import { makeStateFolder } from '../../config/paths.ts';
import { Journal } from '../../journal/journal.ts';
import { isOthers } from '../../journal/take-over.ts';
import { once } from '../../platform/async.ts';
import { systemClock } from '../../platform/clock.ts';
import type { OrderSettings } from '../../run/order-context.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { aText, checkOptions, type Rule, required } from './checks.ts';
import { journalPartsOf, keepJournalParts } from './journal-parts.ts';
import { placingSettings } from './placing-context.ts';

export interface JournalOptions {
  /** Where it lies, an absolute path; made where it is not there. The command line's state folder is one, and so is another's. */
  readonly folder: string;
  /** The YAML file that says what may be spent, an absolute path. Without it spending is not limited. */
  readonly policy?: string | undefined;
  /**
   * `postgres://<user>:<password>@<host>/<database>`: the journal is in this database, shared with other machines, and the folder keeps
   * a copy of it.
   */
  readonly database?: string | undefined;
  /** What the audit chain calls this program: letters, digits and `._-`. */
  readonly program?: string | undefined;
}

/** An order that the journal holds, and whose end nobody has been told. */
export interface UnsettledOrder {
  /** Its `idempotency_key`. */
  readonly key: string;
  readonly baseUrl: string;
  /** When it was first recorded, ISO 8601. */
  readonly since: string;
  /** Known where the service has placed it; else it is in doubt. */
  readonly orderId: string | null;
}

/** The journal of the orders of a service: what was to be sent is in it before it is, and survives a crash. */
export interface OrderJournal extends AsyncDisposable {
  readonly folder: string;
  /** What a process that has ended left behind, oldest first: place each again with its key, or call `resumeOrder`. */
  unsettled(): readonly UnsettledOrder[];
  /** Closes the file. Call it once no order is being placed. */
  close(): Promise<void>;
}

/**
 * Opens the journal in a folder: the same that the command line keeps, so that `errand order journal list` shows it where
 * `ERRAND_STATE_DIR` names the folder. Any number of processes may share it.
 * @throws UsageError for an option that is wrong; StorageError where it cannot be read and written; ErrandError `policy` for a
 * policy that cannot be used.
 */
export async function openJournal(options: JournalOptions): Promise<OrderJournal> {
  checkOptions('openJournal', options, rules);
  const { policy, program } = options;
  const folder = resolve(options.folder);
  const database = options.database === undefined ? undefined : databaseOf(options.database);
  const settings = placingSettings({ folder, policy, program: program ?? 'program', baseUrl: '', database });
  const open = once(() => openIn(folder, program, database));
  await loadPolicy({ settings, journal: open });
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
  const parts = { journal, folder, policy, program: program ?? 'program', database, isClosed: false };
  keepJournalParts(opened, parts);
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
  database: aText('the address of a PostgreSQL database'),
  program: {
    ...aText('a name of at most 60 letters, digits and ._-'),
    is: (value: unknown) => typeof value === 'string' && /^[\w.-]{1,60}$/.test(value),
  },
};
