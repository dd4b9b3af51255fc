import { Command as Commander, CommanderError } from 'commander';
import type { RootCommand, RootNoun } from './cli/define.ts';
import type { Runner } from './cli/mount.ts';
import { addGlobalOptions } from './cli/options.ts';
import { UsageError } from './errors.ts';

interface Entry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<{ readonly noun: RootNoun } | { readonly command: RootCommand }>;
}

/** Every noun, in the order of the help; its code loads only when the command line names it. */
export const entries: readonly Entry[] = [
  {
    name: 'quickstart',
    summary: 'Run the main job end to end in the sandbox',
    load: () => import('./commands/quickstart/index.ts'),
  },
  {
    name: 'search',
    summary: 'Search orderable listings across retailers',
    load: () => import('./commands/search/index.ts'),
  },
  {
    name: 'product',
    summary: "One retailer's products: search, details, offers",
    load: () => import('./commands/product/index.ts'),
  },
  {
    name: 'retailer',
    summary: 'Supported retailers; would an order be refused, and why',
    load: () => import('./commands/retailer/index.ts'),
  },
  {
    name: 'order',
    summary: 'Place, read, follow, export and cancel orders',
    load: () => import('./commands/order/index.ts'),
  },
  {
    name: 'return',
    summary: 'Return items of placed orders; download the labels',
    load: () => import('./commands/return/index.ts'),
  },
  {
    name: 'bulk',
    summary: 'Orders from a CSV: check, upload, follow, results',
    load: () => import('./commands/bulk/index.ts'),
  },
  {
    name: 'account',
    summary: 'Retailer accounts that orders are placed with',
    load: () => import('./commands/account/index.ts'),
  },
  {
    name: 'agent',
    summary: 'Search and order without an account, paid per call',
    load: () => import('./commands/agent/index.ts'),
  },
  { name: 'track', summary: 'Follow an order publicly', load: () => import('./commands/track/index.ts') },
  {
    name: 'wallet',
    summary: 'Spendable balance and fee of an order',
    load: () => import('./commands/wallet/index.ts'),
  },
  {
    name: 'usage',
    summary: 'Calls of the last days, with a chart of each metric',
    load: () => import('./commands/usage/index.ts'),
  },
  {
    name: 'spend',
    summary: 'What was spent, came back and is still held',
    load: () => import('./commands/spend/index.ts'),
  },
  {
    name: 'reconcile',
    summary: 'Compare what this machine ordered with what the service says, to the cent',
    load: () => import('./commands/reconcile/index.ts'),
  },
  {
    name: 'policy',
    summary: 'What may be spent: limits for orders, days and months',
    load: () => import('./commands/policy/index.ts'),
  },
  {
    name: 'approval',
    summary: 'Who said yes: requests, approvals, signatures',
    load: () => import('./commands/approval/index.ts'),
  },
  {
    name: 'audit',
    summary: 'What happened to money on this machine, provably',
    load: () => import('./commands/audit/index.ts'),
  },
  {
    name: 'sandbox',
    summary: 'Sandbox keys, and the local sandbox as a server',
    load: () => import('./commands/sandbox/index.ts'),
  },
  {
    name: 'webhook',
    summary: 'Register an address; receive, show, forward and replay events',
    load: () => import('./commands/webhook/index.ts'),
  },
  {
    name: 'auth',
    summary: 'Keys: store one, see which is used, forget it',
    load: () => import('./commands/auth/index.ts'),
  },
  { name: 'address', summary: 'Local address book', load: () => import('./commands/address/index.ts') },
  {
    name: 'profile',
    summary: 'Named contexts: a service and its key',
    load: () => import('./commands/profile/index.ts'),
  },
  { name: 'config', summary: 'Preferences', load: () => import('./commands/config/index.ts') },
  {
    name: 'legacy',
    summary: 'The v1 surface: product details, retry of a failed order',
    load: () => import('./commands/legacy/index.ts'),
  },
  { name: 'api', summary: 'Any request to the service', load: () => import('./commands/api/index.ts') },
  {
    name: 'schema',
    summary: 'The contract, and how far the service has moved from it',
    load: () => import('./commands/schema/index.ts'),
  },
  {
    name: 'doctor',
    summary: 'Diagnose problems and suggest fixes',
    load: () => import('./commands/doctor/index.ts'),
  },
  {
    name: 'completion',
    summary: 'Print the script with which a shell completes errand',
    load: () => import('./commands/completion/index.ts'),
  },
];

interface Hooks {
  readonly run: Runner;
  readonly now: () => number;
  readonly writeHelp: (text: string) => void;
  readonly width: number;
  readonly version: string;
}

/**
 * Parses the command line and runs what it names.
 * @throws UsageError for an unknown command or flag, with a suggestion where one is near.
 */
export async function runProgram(argv: readonly string[], hooks: Hooks): Promise<void> {
  const root = await buildProgram(argv, hooks);
  try {
    await root.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0 || error.code === 'commander.help') return;
    const { whereToLook } = await import('./cli/where-to-look.ts');
    const { withSuggestion } = await import('./cli/suggest-option.ts');
    const said = error.message.replace(/^error: /, '').replace(/\n\(/, ' (');
    const message = withSuggestion(said, root, argv);
    // A suggestion says what to do already.
    throw new UsageError(message, { hint: message.endsWith('?)') ? undefined : whereToLook(root, argv) });
  }
}

/** The whole program for one command line: every noun is known, only those it names are loaded. */
export async function buildProgram(argv: readonly string[], hooks: Hooks): Promise<Commander> {
  const root = new Commander('errand')
    .description(
      'Buy from online retailers on the command line: search, order under a price ceiling, track, cancel and return. With nothing configured, everything runs in a sandbox on this machine.',
    )
    .exitOverride()
    .configureOutput({
      writeOut: hooks.writeHelp,
      writeErr: hooks.writeHelp,
      outputError: () => {},
      getOutHelpWidth: () => hooks.width,
      getErrHelpWidth: () => hooks.width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ showGlobalOptions: false })
    .version(hooks.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .enablePositionalOptions(false);
  addGlobalOptions(root, hooks.now);
  for (const entry of entries) {
    if (!argv.includes(entry.name)) root.command(entry.name).description(entry.summary);
    else await mountEntry(root, entry, hooks);
  }
  root
    .command('help')
    .description('Help for a command or a topic')
    .argument('[words...]', 'a command, or one of the topics below')
    .action(async (words: string[]) => showHelp(root, words, hooks));
  root.addHelpText('after', startHere);
  return root;
}

async function showHelp(root: Commander, words: readonly string[], hooks: Hooks): Promise<void> {
  const { topics } = await import('./cli/help-topics.ts');
  const [first = '', ...more] = words;
  const topic = more.length === 0 && Object.hasOwn(topics, first) ? topics[first] : undefined;
  if (topic) return hooks.writeHelp(topic());
  let found = root;
  for (const word of words) {
    const next = found.commands.find((command) => [command.name(), ...command.aliases()].includes(word));
    if (!next)
      throw new UsageError(
        `no command or topic "${words.join(' ')}"; topics: ${Object.keys(topics).join(', ')}`,
      );
    found = next;
  }
  found.outputHelp();
}

async function mountEntry(root: Commander, entry: Entry, hooks: Hooks): Promise<void> {
  const [loaded, { mountCommand, mountNoun }] = await Promise.all([entry.load(), import('./cli/mount.ts')]);
  const { name, summary } = entry;
  if ('noun' in loaded) mountNoun(root, { ...loaded.noun, name, summary }, hooks.run, hooks.now);
  else mountCommand(root, { ...loaded.command, name, summary }, hooks.run, hooks.now);
}

const startHere = `
Start here:
  errand quickstart            watch an order from search to delivery
  errand help TOPIC            exit-codes, environment, output, money, policy
`;
