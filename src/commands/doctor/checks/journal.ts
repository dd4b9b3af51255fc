import { proofOf } from '../../../journal/intent-proof.ts';
import type { JournalRecord } from '../../../journal/journal-record.ts';
import { lostRecordText } from '../../../journal/lost-intents.ts';
import { ownOpenText } from '../../../journal/owner.ts';
import type { DatabaseFacts } from '../../../journal/postgres/examine.ts';
import { wasSentWithOtherKey } from '../../../journal/take-over.ts';
import { senderOf } from '../../../orders/submit/intent.ts';
import { settlingCommands, unfinishedLine } from '../../../orders/unfinished.ts';
import { DamagedError } from '../../../platform/errors.ts';
import type { Context } from '../../../run/context.ts';
import { unnamedService } from '../../../run/context-flags.ts';
import { alteredReservations, verifiersOf, wrongSums } from '../../../spending/verified-reservations.ts';
import { type Check, type Finding, info, ok, problem, problemOf } from '../check.ts';

export const journal: Check = {
  name: 'journal',
  async run({ context }) {
    try {
      const opened = await context.journal();
      await opened.checkWhole();
      const own = await opened.openInOwn();
      if (own.length > 0)
        return problem(
          `${ownOpenText(own)}; the shared database does not know of it`,
          '`errand order journal move` takes all of it into the database; until then nothing is ordered.',
        );
      const unsigned = await unsignedEnds(context);
      if (unsigned.length > 0)
        return problem(
          `the audit chain says how ${unsigned.join(' and ')} ended, not signed under this API key: that counts for nothing`,
          'Somebody else may have written it; `errand audit verify` names the records. The same order is looked for before it is sent again.',
        );
      const lost = opened.lost();
      if (lost.length > 0)
        return problem(
          lost.map(lostRecordText).join('; '),
          'Somebody has changed the shared database: see who has its role. `errand order list` shows whether it was ordered; until then the same order is refused.',
        );
      const altered = await alteredReservations(context);
      if (altered.length > 0)
        return problem(
          altered.join('; '),
          'Somebody has changed the shared database: see who has its role. `errand audit verify` names each.',
        );
      const approvals = (await opened.reservations.approvals()).problems();
      if (approvals.length > 0)
        return problem(
          approvals.join('; '),
          'See who has the role of the shared database. The command that asked for it asks anew.',
        );
      const wrong = await wrongSums(context);
      if (wrong.length > 0)
        return problem(
          wrong.join('; '),
          '`errand audit verify` makes the copy of this machine anew, which counts anew.',
        );
      const unfinished = opened.unfinished();
      const line = await unfinishedLine(context, unfinished);
      if (line === undefined) return ok('the journal can be written, and no order is in doubt');
      const unproven = await unprovenOf(context, unfinished.inDoubt);
      if (unproven.length > 0)
        return problem(
          `${unproven.join(' and ')} ${unproven.length === 1 ? 'is' : 'are'} in doubt, and nothing proves that this API key requested ${unproven.length === 1 ? 'it' : 'them'}: never sent`,
          '`errand order journal resume` with the key says why, and names what looks like it at the service.',
        );
      const [first] = [...unfinished.inDoubt, ...unfinished.unreported];
      const [what = line] = line.split(';');
      const { commands } = await settlingCommands(context, unfinished);
      return problem(
        `${what} (the first since ${first?.created_at})`,
        commands.length === 0
          ? `It names ${unnamedService}: where you know that service, give its --base-url or profile to \`errand order journal resume --all\`.`
          : `${commands.join(' and ')}: exactly one order comes of each.`,
      );
    } catch (error) {
      const steps = error instanceof DamagedError ? (error.facts.next ?? []) : [];
      const repair = steps.find(({ command }) => command.endsWith(' journal repair'));
      return problemOf(
        error,
        repair && `\`${repair.command}\` keeps what is intact, and sets the rest aside.`,
      );
    }
  },
};

/**
 * Finds intents whose end is recorded in a shared audit chain without a valid signature.
 * @returns the keys of the intents.
 */
async function unsignedEnds(context: Context): Promise<string[]> {
  const { audit, isShared } = await context.journal();
  const signers = isShared ? await verifiersOf(context) : [];
  return signers.flatMap((signer) => audit.unsignedEnds(context.settings.baseUrl.value, signer));
}

/**
 * Finds records in doubt that the audit chain does not prove, among those of the account and service in use.
 * @returns the keys of the records.
 */
async function unprovenOf(context: Context, records: readonly JournalRecord[]): Promise<string[]> {
  const { audit } = await context.journal();
  const keys: string[] = [];
  for (const record of records) {
    const sender = await senderOf(context, record.operation);
    const isHere = record.base_url === context.settings.baseUrl.value && !wasSentWithOtherKey(record, sender);
    if (isHere && typeof proofOf(audit, record, sender) === 'string') keys.push(record.key);
  }
  return keys;
}

/** Round-trip time, in ms, above which a database counts as slow. Every order has to wait for the database. */
const slowMs = 250;
/** Tolerated clock skew, in ms. Leases use the database's clock, so skew does no harm except to mislead people. */
const allowedMs = 30_000;

/** PostgreSQL's code for a missing privilege. */
const isRights = (error: unknown): boolean => error instanceof Error && Object(error.cause).code === '42501';

export const database: Check = {
  name: 'database',
  async run({ context }) {
    const { database: named } = context.settings;
    if (!named) return [];
    const by = named.from === 'profile' ? `profile ${named.name}` : named.name;
    try {
      const { examineDatabase } = await import('../../../journal/postgres/examine.ts');
      const facts = await examineDatabase(named, context.clock, context.signal);
      return [reached(facts, `${named.shown} (${by})`), ...rights(facts), ...lasting(facts), ...clock(facts)];
    } catch (error) {
      const found = problemOf(error);
      return problem(
        `${found.message} (named by ${by})`,
        isRights(error)
          ? 'Name the role in the address that owns the schema errand and all that is in it: a team has one.'
          : 'See that the server runs, that this machine reaches it, and that user, password and sslmode of the address are right.',
      );
    }
  },
};

function reached({ server, latencyMs, isEncrypted }: DatabaseFacts, name: string): Finding {
  const how = isEncrypted ? 'encrypted' : 'not encrypted';
  const message = `${name}: PostgreSQL ${server} responds in ${latencyMs} ms, ${how}`;
  return latencyMs <= slowMs
    ? ok(message)
    : problem(message, 'An order takes six round trips to it: use a database that is nearer.');
}

function rights({ mayUse, hasSchema, role, schema, atWork }: DatabaseFacts): Finding[] {
  const owner = /^\w+$/.test(role) ? role : 'ROLE';
  if (!mayUse && hasSchema)
    return [
      problem(
        'the role may not use the schema errand, which is of another role',
        'Name the role in the address that owns the schema: a team has one.',
      ),
    ];
  if (!mayUse)
    return [
      problem(
        'there is no schema errand, and the role may not make it',
        `As the owner of the database or a superuser: CREATE SCHEMA errand AUTHORIZATION ${owner};`,
      ),
    ];
  if (!schema) return [ok('the role has the rights it needs; the first command makes the tables')];
  const { version, known } = schema;
  if (version > known)
    return [
      problem(`its tables are of version ${version}; this errand knows ${known}`, 'Update errand here.'),
    ];
  const { processes, machines } = atWork;
  const work =
    processes === 0
      ? 'no process is at work'
      : `${processes === 1 ? 'a process is' : `${processes} processes are`} at work on ${machines === 1 ? 'one machine' : `${machines} machines`}`;
  return [
    version < known
      ? info(`its tables are of version ${version}; the next command brings them to ${known}`)
      : ok(`its tables are of version ${version}, as errand knows them; ${work}`),
  ];
}

function lasting({ off, isStandby }: DatabaseFacts): Finding[] {
  return [
    ...(isStandby
      ? [
          problem(
            'it takes no writes: it is a standby, or read-only',
            'Name the primary server in the address, or let the role write.',
          ),
        ]
      : []),
    ...off.map((name) =>
      problem(
        `${name} is off: after a power cut of the server an order may be missing in it, and be placed twice`,
        `In its postgresql.conf: ${name} = on`,
      ),
    ),
  ];
}

function clock({ aheadMs }: DatabaseFacts): Finding[] {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= allowedMs)
    return [ok(`the clock of this machine agrees with the database's to ${Math.max(1, seconds)} s`)];
  return [
    problem(
      `this machine's clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's: a day of a limit begins at another time here`,
      'Set it by the network (timedatectl set-ntp true; or the date settings of the system).',
    ),
  ];
}
