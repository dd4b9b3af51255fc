import { defineRootCommand } from '../../cli/define.ts';
import { type ToolName, toolNames } from '../../integrations/mcp/names.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

// The cast is safe because an object literal has no keys but its own.
const toolWords = Object.keys(toolNames) as ToolName[];

export const command = defineRootCommand({
  description:
    "A Model Context Protocol server on stdin and stdout, which an agent's client starts. Spending takes two steps: a quote, and placing it, which makes one order however often it is called. Text of retailers and sellers is marked as data, never as instructions. No tool approves, overrides, or changes the policy, settings or keys.",
  lists: [{ title: 'Tools', rows: toolNames }],
  options: {
    live: {
      kind: 'flag',
      description:
        'allow real orders; needs a policy with limits.per_day. Without it only a test key or the sandbox',
    },
    readOnly: { kind: 'flag', description: 'only the tools that change nothing' },
    tools: {
      kind: 'list',
      offers: toolWords,
      description: 'only these tools',
    },
  },
  examples: [
    { command: 'errand mcp', note: 'in the sandbox; a client starts it so' },
    { command: 'errand mcp --read-only', note: 'looks, and orders nothing' },
    { command: 'errand mcp --tools search,product_get', note: 'these two tools alone' },
  ],
  needsKey: true,
  output: { text: 'messages of the Model Context Protocol, one line of JSON each' },
  exitCodes: { 11: 'with --live: the policy limits no day, or cannot be used' },
  related: ['policy init', 'approval list', 'audit log'],
  async run(context, { live = false, readOnly = false, tools: names }) {
    const requested = names && (await Promise.all(names.map(toolNamed)));
    if (requested && readOnly) await checkAnyReads(requested);
    refuseOutput(context);
    // Read the policy only for real orders, so that rehearsals, which are the common case, start without it.
    if (live || !context.isRehearsal()) {
      const { checkDayLimit, checkLive } = await import('../../integrations/mcp/guard.ts');
      checkLive(context, live);
      await checkDayLimit(context, live);
    }
    if (context.io.stdin.isTerminal) for (const line of await forPerson(context)) context.note(line);
    const { serve } = await import('../../integrations/mcp/serve.ts');
    await serve(context, { names: requested, readsOnly: readOnly, isLive: live });
    return { kind: 'none' };
  },
});

/** @throws UsageError for an output flag, since there is no output to format. */
function refuseOutput({ output, settings }: Context): void {
  const flags = {
    '--output': settings.output.from === 'flag',
    '--query': output.query !== undefined,
    '--fields': output.fields !== undefined,
  };
  const [flag] = Object.entries(flags).flatMap(([name, isGiven]) => (isGiven ? [name] : []));
  if (flag !== undefined)
    throw new UsageError(`${flag} has nothing to shape: errand mcp prints messages of its protocol alone`);
}

/** @throws UsageError for an unknown tool name. */
async function toolNamed(name: string): Promise<ToolName> {
  const known = toolWords.find((one) => one === name);
  if (known !== undefined) return known;
  const { didYouMean } = await import('../../platform/near-words.ts');
  throw new UsageError(`--tools: there is no tool "${name}"${didYouMean(name, toolWords)}`, {
    next: [{ command: 'errand mcp --help', when: 'to see every tool' }],
  });
}

/** @throws UsageError if no tool remains. */
async function checkAnyReads(requested: readonly ToolName[]): Promise<void> {
  const { tools } = await import('../../integrations/mcp/tools/index.ts');
  if (tools.some(({ name, effect }) => effect === 'reads' && requested.includes(name))) return;
  throw new UsageError(`--read-only leaves out ${requested.join(', ')}, and --tools names no other tool`, {
    next: [{ command: 'errand mcp --read-only', when: 'for every tool that changes nothing' }],
  });
}

/** Instructions for a user who starts the server at a terminal. */
async function forPerson(context: Context): Promise<string[]> {
  const { whereWords } = await import('../../run/context-flags.ts');
  const args = JSON.stringify(['mcp', ...whereWords(context)]);
  return [
    'this is a server for agents: it waits for a client to speak on stdin (Ctrl-D ends it)',
    'to add it to a client, put this into its configuration:',
    '  { "mcpServers": { "errand": {',
    `    "command": "errand", "args": ${args} } } }`,
  ];
}
