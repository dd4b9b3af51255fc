import { Command as Commander, CommanderError, Option as CommanderOption } from 'commander';
import type { PrintingCommand } from '../api/outputs/printed.ts';
import type { RootCommand, RootNoun } from '../cli/define.ts';
import type { Mounting } from '../cli/mount.ts';
import { addGlobalOptions } from '../cli/options.ts';
import type { Io, Pager } from '../platform/streams.ts';

interface Entry {
  readonly name: string;
  /** Heading in the help. */
  readonly group: string;
  readonly summary: string;
  load(): Promise<{ readonly noun: RootNoun } | { readonly command: RootCommand }>;
}

/** Every noun, in help order. A noun's code loads only when the command line names the noun. */
export const entries: readonly Entry[] = [
  {
    name: 'quickstart',
    group: 'Start',
    summary: 'Search, order and watch to delivery in the sandbox',
    load: () => import('./quickstart/index.ts'),
  },
  {
    name: 'search',
    group: 'Start',
    summary: 'Search orderable listings across retailers',
    load: () => import('./search/index.ts'),
  },
  {
    name: 'product',
    group: 'Start',
    summary: "One retailer's products: search, details, offers",
    load: () => import('./product/index.ts'),
  },
  {
    name: 'retailer',
    group: 'Start',
    summary: 'Supported retailers, and whether they would refuse an order',
    load: () => import('./retailer/index.ts'),
  },
  {
    name: 'order',
    group: 'Orders',
    summary: 'Place, read, follow, export and cancel orders',
    load: () => import('./order/index.ts'),
  },
  {
    name: 'standing',
    group: 'Orders',
    summary: 'Standing orders: what is bought again and again, each date once',
    load: () => import('./standing/index.ts'),
  },
  {
    name: 'undo',
    group: 'Orders',
    summary: 'Cancel the last order or upload of this terminal',
    load: () => import('./undo/index.ts'),
  },
  {
    name: 'track',
    group: 'After delivery',
    summary: 'Track an order without a key',
    load: () => import('./track/index.ts'),
  },
  {
    name: 'return',
    group: 'After delivery',
    summary: 'Return items of placed orders; download the labels',
    load: () => import('./return/index.ts'),
  },
  {
    name: 'bulk',
    group: 'Thousands',
    summary: 'Orders from a CSV: check, upload, follow, results',
    load: () => import('./bulk/index.ts'),
  },
  {
    name: 'wallet',
    group: 'Money',
    summary: 'Spendable balance and fee of an order',
    load: () => import('./wallet/index.ts'),
  },
  {
    name: 'spend',
    group: 'Money',
    summary: 'Spending, refunds and amounts still held',
    load: () => import('./spend/index.ts'),
  },
  {
    name: 'reconcile',
    group: 'Money',
    summary: 'Compare what this machine ordered with what the service says, to the cent',
    load: () => import('./reconcile/index.ts'),
  },
  {
    name: 'policy',
    group: 'Money',
    summary: 'Spending limits per order, day and month',
    load: () => import('./policy/index.ts'),
  },
  {
    name: 'approval',
    group: 'Money',
    summary: 'Approve or deny orders that the policy holds back',
    load: () => import('./approval/index.ts'),
  },
  {
    name: 'audit',
    group: 'Money',
    summary: 'Tamper-evident log of every step that touches money',
    load: () => import('./audit/index.ts'),
  },
  {
    name: 'mcp',
    group: 'Programs',
    summary: 'Serve tools to an agent over the Model Context Protocol',
    load: () => import('./mcp/index.ts'),
  },
  {
    name: 'skill',
    group: 'Programs',
    summary: 'Tell agents that have a shell how to buy with errand',
    load: () => import('./skill/index.ts'),
  },
  {
    name: 'webhook',
    group: 'Programs',
    summary: 'Register an address; receive, show, forward and replay events',
    load: () => import('./webhook/index.ts'),
  },
  {
    name: 'agent',
    group: 'Programs',
    summary: 'Search and order without an account, paid per call',
    load: () => import('./agent/index.ts'),
  },
  {
    name: 'api',
    group: 'Programs',
    summary: 'Any request to the service',
    load: () => import('./api/index.ts'),
  },
  {
    name: 'schema',
    group: 'Programs',
    summary: 'Show the API contract; compare it with the service',
    load: () => import('./schema/index.ts'),
  },
  {
    name: 'usage',
    group: 'Programs',
    summary: 'Calls of the last days, with a chart of each metric',
    load: () => import('./usage/index.ts'),
  },
  {
    name: 'legacy',
    group: 'Programs',
    summary: 'The v1 surface: product details, retry of a failed order',
    load: () => import('./legacy/index.ts'),
  },
  {
    name: 'sandbox',
    group: 'Sandbox',
    summary: 'Sandbox keys, and the local sandbox as a server',
    load: () => import('./sandbox/index.ts'),
  },
  {
    name: 'auth',
    group: 'Setup',
    summary: 'Sign in; store, show or remove a key',
    load: () => import('./auth/index.ts'),
  },
  {
    name: 'account',
    group: 'Setup',
    summary: 'Retailer accounts that orders are placed with',
    load: () => import('./account/index.ts'),
  },
  {
    name: 'address',
    group: 'Setup',
    summary: 'Local address book',
    load: () => import('./address/index.ts'),
  },
  {
    name: 'profile',
    group: 'Setup',
    summary: 'Named contexts: a service and its key',
    load: () => import('./profile/index.ts'),
  },
  {
    name: 'config',
    group: 'Setup',
    summary: 'Preferences',
    load: () => import('./config/index.ts'),
  },
  {
    name: 'doctor',
    group: 'Setup',
    summary: 'Diagnose problems and suggest fixes',
    load: () => import('./doctor/index.ts'),
  },
  {
    name: 'completion',
    group: 'Setup',
    summary: 'Print a shell completion script',
    load: () => import('./completion/index.ts'),
  },
];

interface Building extends Mounting {
  readonly version: string;
  readonly write: (text: string) => void;
  /**
   * Called instead of commander's own help output. `requested` is the command whose help to show, or the words after
   * `errand help`.
   */
  readonly onHelp: (requested: Commander | readonly string[]) => void;
}

/**
 * Parses the command line and runs the command.
 * @throws UsageError for an unknown command or flag, with a suggestion if one is close.
 */
export async function runProgram(
  argv: readonly string[],
  {
    io,
    pager,
    ...hooks
  }: Pick<Building, 'run' | 'now' | 'version'> & { readonly io: Io; readonly pager?: Pager | undefined },
): Promise<void> {
  const write = (text: string): void => void io.stdout.stream.write(text);
  let requested: Commander | readonly string[] | undefined;
  const onHelp: Building['onHelp'] = (help) => {
    requested = help;
  };
  const mayName = (names: readonly string[]): boolean => names.some((name) => argv.includes(name));
  const root = await buildProgram(argv, { ...hooks, mayName, write, onHelp });
  try {
    await root.parseAsync(plainFlags(withoutDefaultVerb(argv), root), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 && error.code !== 'commander.help') {
      const { mistakeOf } = await import('../cli/mistakes.ts');
      const message = error.message.replace(/^error: /, '').replace(/\n\(/, ' (');
      const { factsOf } = await import('./mistake-facts.ts');
      const facts = (path: readonly string[]) =>
        factsOf(commandsNamed(root, path).at(-1), path.join(' '), printingCommands);
      throw await mistakeOf({ code: error.code, message }, { root, argv, whole: describedProgram, facts });
    }
  }
  if (!requested) return;
  const { commandHelp, namedHelp } = await import('../cli/help/show.ts');
  const { writePaged } = await import('../cli/output/pager.ts');
  const text = await ('commands' in requested ? commandHelp(requested, io) : namedHelp(root, requested, io));
  await writePaged(text, io, pager);
}

/** Verbs that users may add to a command that has none. */
const defaultVerbs = ['show', 'get'];

/** `wallet show` is `wallet`. */
function withoutDefaultVerb(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word) => word === 'wallet' || word === 'usage');
  return at >= 0 && defaultVerbs.includes(argv[at + 1] ?? '') ? argv.toSpliced(at + 1, 1) : argv;
}

/** For flags that take no value: `--flag=true` means `--flag`, and `--flag=false` means `--no-flag`. */
function plainFlags(argv: readonly string[], root: Commander): string[] {
  const end = argv.indexOf('--');
  return argv.flatMap((word, at) => {
    const [, flag, value] = /^--([a-z][a-z-]*)=(true|false)$/.exec(word) ?? [];
    if (flag === undefined || (end >= 0 && at > end)) return [word];
    const options = [root, ...commandsNamed(root, argv)].flatMap((command) => command.options);
    const own = options.find(({ long }) => long === `--${flag}`);
    if (!own || own.required || own.optional) return [word];
    if (value === 'true') return [`--${flag}`];
    return options.some(({ long }) => long === `--no-${flag}`) ? [`--no-${flag}`] : [];
  });
}

function commandsNamed(root: Commander, argv: readonly string[]): Commander[] {
  const found: Commander[] = [];
  let command = root;
  for (const word of argv) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next) found.push(next);
    command = next ?? command;
  }
  return found;
}

/**
 * Builds the program for introspection, with every command mounted. If `nouns` is empty, builds only what the program's
 * own help shows.
 */
export const describedProgram = (nouns = entries.map(({ name }) => name)): Promise<Commander> =>
  buildProgram(nouns, { run: async () => {}, now: Date.now, version: '', write: () => {}, onHelp: () => {} });

/** Returns every command with its output. This loads all commands. */
export async function printingCommands(): Promise<PrintingCommand[]> {
  const found: PrintingCommand[] = [];
  for (const { name, load } of entries) {
    const loaded = await load();
    if ('noun' in loaded) found.push(...printingVerbs([name], loaded.noun));
    else found.push({ path: name, aliases: [], output: loaded.command.output });
  }
  return found;
}

/** @param nouns lists all accepted spellings of the words before the verbs. The first spelling is canonical. */
const printingVerbs = (nouns: readonly string[], { verbs }: Pick<RootNoun, 'verbs'>): PrintingCommand[] =>
  verbs.flatMap((verb) => {
    const words = [verb.name, ...(verb.aliases ?? [])];
    const [path = '', ...aliases] = words.flatMap((word) => nouns.map((noun) => `${noun} ${word}`));
    if ('verbs' in verb) return printingVerbs([path, ...aliases], verb);
    return [{ path, aliases: [...aliases, ...(verb.isDefault ? nouns : [])], output: verb.output }];
  });

/** Builds the program for one command line. It knows every noun, but loads only the nouns that the line names. */
async function buildProgram(argv: readonly string[], building: Building): Promise<Commander> {
  const { version, now, write, onHelp } = building;
  const root = new Commander('errand')
    .description(
      'Buy from online retailers on the command line: search, order under a price ceiling, track, cancel and return. With nothing configured, everything runs in a sandbox on this machine.',
    )
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: write, outputError: () => {} })
    .configureHelp({ formatHelp: (command) => onHelp(command) ?? '' })
    .version(version, '-V, --version', 'print the version')
    .addHelpOption(new CommanderOption('-h, --help', 'show help').helpGroup('Global options:'))
    .helpCommand(false)
    .enablePositionalOptions(false);
  addGlobalOptions(root, now);
  for (const entry of entries) {
    const mounted = argv.includes(entry.name)
      ? await mountEntry(root, entry, building)
      : root.command(entry.name).description(entry.summary);
    mounted.helpGroup(entry.group);
  }
  root
    .command('help')
    .description('Help for a command or a topic')
    .helpGroup('Setup')
    .argument('[words...]', 'a command, or one of the topics below')
    .action((words: string[]) => onHelp(words));
  return root;
}

async function mountEntry(root: Commander, entry: Entry, mounting: Mounting): Promise<Commander> {
  const [loaded, { mountCommand, mountNoun }] = await Promise.all([entry.load(), import('../cli/mount.ts')]);
  const { name, summary } = entry;
  return 'noun' in loaded
    ? mountNoun(root, { ...loaded.noun, name, summary }, mounting)
    : mountCommand(root, { ...loaded.command, name, summary }, mounting);
}
