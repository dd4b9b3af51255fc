import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ended } from '../../support/runner.ts';
import type { Need, Run } from './history.ts';
import type { TrueOrder } from './service.ts';
import { spelledFile, spelledOrder } from './spelling.ts';

export const doorNames = [
  'reference',
  'single',
  'upload',
  'plan',
  'retry',
  'mcp',
  'library',
  'legacy',
  'agent',
] as const;
export type DoorName = (typeof doorNames)[number];

/** Doors that are drawn from where none is named. */
export const openDoors: readonly DoorName[] = ['reference', 'single', 'upload'];

/** Doors that take references. */
export const namingDoors: ReadonlySet<DoorName> = new Set(doorNames.filter((name) => name !== 'single'));

/** Doors whose orders no other journal learns of: no list shows them, or no key keeps them apart. */
export const ownJournalDoors: ReadonlySet<DoorName> = new Set(['legacy', 'agent']);

/** Doors whose orders are no rehearsals: a policy counts them apart. */
export const liveDoors: ReadonlySet<DoorName> = new Set(['library', 'agent']);

/** @throws Error if there is no such door. */
export function doorsNamed(list: string | undefined): readonly DoorName[] {
  if (list === undefined) return openDoors;
  return list.split(',').map((name) => {
    const door = doorNames.find((one) => one === name);
    if (door) return door;
    throw new Error(`no door is called ${name}; there are ${doorNames.join(', ')}`);
  });
}

/** Stdin of a command, and how it is shown. */
export interface Fed {
  readonly stdin: string;
  readonly shown: string;
}

/** A command's machine, as its door needs it. */
export interface Hand {
  readonly folder: string;
  readonly shopUrl: string;
  readonly needs: readonly Need[];
  /** Runs a command there. */
  errand(...argv: readonly [string | Fed, ...string[]]): Promise<Ended>;
  /** Has a program there place an order by the library. */
  place(order: object, options: object): Promise<Ended>;
  /** The orders of a need, as somebody sees them at the service. */
  ordersOf(need: Need): Promise<readonly TrueOrder[]>;
}

/** What a command said of the need of an order: that this order is live, or that the order exists. */
export interface Said {
  readonly orderId: string;
  readonly hidden: string;
}

/** What became of a command. */
export interface Outcome {
  /** Null if it was killed. */
  readonly code: number | null;
  readonly text: string;
  /** The needs that it was for, if others than were to be ordered. */
  readonly needs?: readonly number[];
  /** Orders that it named as those of its needs. */
  readonly placed: readonly Said[];
  /** It said that it ordered nothing new. */
  readonly isNothingNew: boolean;
  /** How many rows it counted as new, placed already, and sent again in doubt; undefined if it did not say. */
  readonly counted?: Readonly<Record<'added' | 'placed' | 'inDoubt', number | undefined>>;
  /** The commands that it names to settle what is in doubt. */
  readonly settling: readonly string[];
  /** The commands that it names for what nothing settles, once somebody has looked. */
  readonly forgetting?: readonly string[];
  /** It said that nothing was sent, or that the service refused it. */
  readonly isDenied: boolean;
}

interface Door {
  /** Orders again after a cancellation, without a word. */
  readonly passesCancelled: boolean;
  /** Whether what the run says means another order beside a live one. */
  meansNew(need: Need): boolean;
  order(hand: Hand, run: Run): Promise<Outcome>;
}

function needOf({ needs }: Hand, { needs: [at = 0] }: Run): Need {
  const need = needs[at];
  if (!need) throw new Error(`there is no need ${at}`);
  return need;
}

/** Writes the order, and says how a command reads it. */
function orderedBy(hand: Hand, run: Run): string[] {
  const need = needOf(hand, run);
  writeFileSync(join(hand.folder, 'order.json'), JSON.stringify(spelledOrder(need, run, hand.shopUrl)));
  return [
    ...['--file', 'order.json'],
    ...(need.reference === undefined ? [] : ['--reference', need.reference]),
    ...(need.namespace === undefined ? [] : ['--namespace', need.namespace]),
    ...(run.isMeant ? [need.reference === undefined ? '--new' : '--again'] : []),
  ];
}

const single: Door = {
  passesCancelled: true,
  // `--again` buys again what has ended.
  meansNew: ({ reference }) => reference === undefined,
  async order(hand, run) {
    return outcomeOf(
      needOf(hand, run),
      await hand.errand('order', 'create', ...orderedBy(hand, run), '--retries', '0', '-o', 'json'),
    );
  },
};

/** Orders the rows of a file. @param order orders them once the file is there, under this name. */
const file = (
  order: (hand: Hand, run: Run, name: string) => Promise<Ended>,
  nameOf: (run: Run) => string = () => 'orders',
): Door => ({
  passesCancelled: false,
  meansNew: () => true,
  async order(hand, run) {
    const { text, flags } = spelledFile(needsOf(hand, run), run, hand.shopUrl);
    const name = nameOf(run);
    writeFileSync(join(hand.folder, `${name}.csv`), text);
    writeFileSync(join(hand.folder, 'flags.json'), JSON.stringify(flags));
    return outcomeOf(undefined, await order(hand, run, name));
  },
});

const needsOf = ({ needs }: Hand, run: Run): Need[] => needs.filter((_, at) => run.needs.includes(at));

const readAs = ({ folder }: Hand, { isMeant, spelling }: Run): string[] => [
  ...JSON.parse(readFileSync(join(folder, 'flags.json'), 'utf8')),
  ...(isMeant ? ['--run', `again-${spelling}`] : []),
];

const uploaded = (hand: Hand, run: Run, name: string): Promise<Ended> =>
  hand.errand(
    ...['bulk', 'upload', `${name}.csv`],
    ...readAs(hand, run),
    ...skipping(run),
    ...['--retries', '0', '-o', 'json'],
  );

const upload = file(uploaded);

/** Half of those who meet rows that are ordered already leave them out. */
const skipping = ({ spelling }: Run): string[] => (spelling % 2 === 0 ? ['--skip-duplicates'] : []);

const plan = file(async (hand, run) => {
  const flags = ['--no-prices', '--force', '--out', 'orders.plan', '--retries', '0'];
  const planned = await hand.errand(
    'bulk',
    'plan',
    'orders.csv',
    ...readAs(hand, run),
    ...skipping(run),
    ...flags,
    '-o',
    'json',
  );
  return planned.code === 0
    ? hand.errand('bulk', 'apply', 'orders.plan', '--retries', '0', '-o', 'json')
    : planned;
});

/** Uploads rows under a name that says whose they are. */
const rows = file(uploaded, ({ needs }) => `rows-${needs.join('-')}`);

/** Retries the largest upload that has the first row: all rows of it that failed, however they were spelled. */
const retry: Door = {
  ...rows,
  async order(hand, run) {
    const [at = 0] = run.needs;
    const [name] = readdirSync(hand.folder)
      .flatMap((found) => /^(rows-[\d-]+)\.csv$/.exec(found)?.[1] ?? [])
      .filter((found) => needsIn(found).includes(at))
      .toSorted((one, other) => other.length - one.length);
    if (name === undefined) return rows.order(hand, run);
    const again = run.isMeant ? ['--again'] : [];
    const retried = await hand.errand('bulk', 'retry', name, ...again, '--retries', '0', '-o', 'json');
    // Nothing of that name was uploaded here yet, or it was cut short.
    if (isNamedUnknown(retried)) return rows.order(hand, run);
    return { ...outcomeOf(undefined, retried), needs: needsIn(name) };
  },
};

const needsIn = (name: string): number[] => name.split('-').slice(1).map(Number);

/** Whether there is no upload of the name yet, or nothing of it was sent, or it is to be sent again first. */
const isNamedUnknown = ({ code, stderr }: Ended): boolean =>
  code === 2 || code === 4 || (code === 5 && stderr.includes('errand bulk upload '));

/** An agent quotes, and places what it quoted, in a server of its own each: what it knows it has from the journal. */
const mcp: Door = {
  passesCancelled: false,
  meansNew: ({ reference }) => reference === undefined,
  async order(hand, run) {
    const need = needOf(hand, run);
    const { reference, namespace } = need;
    const order = {
      ...spelledOrder(need, run, hand.shopUrl),
      ...(reference !== undefined && { reference }),
      ...(namespace !== undefined && { namespace }),
      ...(run.isMeant && (reference === undefined ? { new: true } : { again: true })),
    };
    const quoted = await called(hand, 'order_quote', order);
    const { quote } = quoted.answer;
    const last = typeof quote === 'string' ? await called(hand, 'order_place', { quote }) : quoted;
    return agentOutcome(need, run, last);
  },
};

interface Called {
  readonly ended: Ended;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Calls a tool of a server that ends once it has answered. */
async function called({ errand }: Hand, name: string, given: object): Promise<Called> {
  const info = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'agent', version: '1' },
  };
  const messages = [
    { id: 1, method: 'initialize', params: info },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name, arguments: given } },
  ];
  const stdin = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const ended = await errand({ stdin, shown: `${name} ${JSON.stringify(given)}` }, 'mcp');
  const lines = ended.stdout.split('\n').flatMap((line) => lastJson(line) ?? []);
  const result = lines.find(({ id }) => id === 2)?.result;
  const text = String(result?.content?.[0]?.text ?? '');
  const json = text.split('\n').find((line) => line.startsWith('{'));
  return { ended, answer: result?.structuredContent ?? lastJson(json ?? '') ?? {} };
}

function agentOutcome({ hidden }: Need, { faults }: Run, { ended, answer }: Called): Outcome {
  const { error, order, existed } = lastJson(JSON.stringify(answer)) ?? {};
  const id = order?.id ?? answer.order_id;
  return {
    code: ended.crash === undefined ? (error ? codeOf(error) : ended.code) : null,
    text: ended.crash ?? JSON.stringify(answer).slice(0, 1500),
    placed: typeof id === 'string' ? [{ orderId: id, hidden }] : [],
    // After a lost response the server itself sends again, and finds what it made.
    isNothingNew:
      (existed === true && faults.length === 0) ||
      (error?.category === 'conflict' && error.outcome === 'applied'),
    settling: commandsIn({ next: error?.for_a_person }, 'resume'),
    forgetting: commandsIn({ next: error?.for_a_person }, 'forget'),
    isDenied: error?.outcome === 'not_sent' || error?.outcome === 'rejected',
  };
}

/** A program orders by the library. */
const library: Door = {
  passesCancelled: false,
  meansNew: ({ reference }) => reference === undefined,
  async order(hand, run) {
    const need = needOf(hand, run);
    const { reference, namespace, hidden } = need;
    const options = {
      ...(reference !== undefined && { reference }),
      ...(namespace !== undefined && { namespace }),
      ...(run.isMeant && (reference === undefined ? { new: true } : { again: true })),
    };
    const { code, crash, stdout, stderr } = await hand.place(spelledOrder(need, run, hand.shopUrl), options);
    const { id, existed, error } = lastJson(stdout) ?? {};
    return {
      code: crash !== undefined || code !== 0 ? null : error ? codeOf(error) : 0,
      text: crash ?? (stdout || stderr),
      placed: typeof id === 'string' ? [{ orderId: id, hidden }] : [],
      isNothingNew: existed === true || (error?.category === 'conflict' && error.outcome === 'applied'),
      settling: commandsIn(error, 'resume'),
      forgetting: commandsIn(error, 'forget'),
      isDenied: error?.outcome === 'not_sent' || error?.outcome === 'rejected',
    };
  },
};

const codes: Readonly<Record<string, number>> = {
  ...{ usage: 2, payment: 6, ended_badly: 7, in_doubt: 10, policy: 11 },
  conflict: 5,
};

/** The exit code that a command would have for an error. */
const codeOf = ({ category }: { readonly category?: unknown }): number => codes[String(category)] ?? 9;

/** Retries the last order that failed, by v1; where none has, it is ordered. */
const legacy: Door = {
  ...single,
  async order(hand, run) {
    const need = needOf(hand, run);
    const last = (await hand.ordersOf(need)).findLast(({ status }) => status === 'order_failed');
    if (!last) return single.order(hand, run);
    const meant = run.isMeant ? ['--new'] : [];
    const ended = await hand.errand('legacy', 'retry', last.id, ...meant, '--retries', '0', '-o', 'json');
    const [made] = lastJson(ended.stdout) ?? [];
    return {
      ...outcomeOf(undefined, ended),
      placed: ended.code === 0 ? [{ orderId: String(made?.request_id), hidden: need.hidden }] : [],
    };
  },
};

const agent: Door = {
  ...single,
  async order(hand, run) {
    return outcomeOf(
      needOf(hand, run),
      await hand.errand('agent', 'order', 'create', ...orderedBy(hand, run), '--retries', '0', '-o', 'json'),
    );
  },
};

export const doors: Readonly<Record<DoorName, Door>> = {
  ...{ reference: single, single, mcp, library, legacy, agent },
  ...{ upload, plan, retry },
};

function outcomeOf(need: Need | undefined, { code, crash, stdout, stderr }: Ended): Outcome {
  const text = crash ?? (stderr.trim() || `${stdout.slice(0, 60).replace(/\s+/g, ' ')}…`);
  const error = lastJson(stderr)?.error;
  const placed = need && code === 0 ? [{ orderId: String(lastJson(stdout)?.id), hidden: need.hidden }] : [];
  return {
    code,
    text,
    placed,
    ...(code === 0 && { counted: countsIn(stderr) }),
    isNothingNew:
      stderr.includes('nothing was ordered twice') || (code === 5 && error?.outcome === 'applied'),
    settling: commandsIn(error, 'resume'),
    forgetting: commandsIn(error, 'forget'),
    isDenied: error?.outcome === 'not_sent' || error?.outcome === 'rejected',
  };
}

/** The commands that an error names to settle a doubt, or to forget it. */
const commandsIn = (
  error: { readonly next?: readonly { readonly command: string }[] } | undefined,
  verb: 'resume' | 'forget',
): string[] =>
  (error?.next ?? []).flatMap(
    ({ command }) => new RegExp(`errand (?:order journal|bulk) ${verb} [\\w-]+`).exec(command)?.[0] ?? [],
  );

function countsIn(text: string) {
  const numberOf = (found: RegExpExecArray | null): number | undefined =>
    found ? Number(found[1]) : undefined;
  return {
    added: numberOf(/^(\d+) new\b/m.exec(text)),
    placed: numberOf(/(?:^|; )(\d+) placed already/m.exec(text)),
    inDoubt: numberOf(/(?:^|; )(\d+) in doubt, sent again/m.exec(text)),
  };
}

/** A whole text of JSON, or its last line that is some. */
function lastJson(text: string): ReturnType<typeof JSON.parse> {
  for (const part of [text, ...text.trim().split('\n').reverse()])
    try {
      return JSON.parse(part);
    } catch {}
  return undefined;
}
