import type { Io } from '../../platform/streams.ts';

/** The commands of the first level: after one of their names a text is a command line. */
const nouns = [
  ...['quickstart', 'search', 'product', 'retailer', 'order', 'track', 'return', 'bulk', 'wallet', 'spend'],
  ...['reconcile', 'policy', 'approval', 'audit', 'webhook', 'agent', 'api', 'schema', 'usage', 'legacy'],
  ...['mcp', 'sandbox', 'auth', 'account', 'address', 'profile', 'config', 'doctor', 'completion', 'help'],
  'COMMAND',
];
const commandLine = new RegExp(
  `(^|[\\s\`$(|]|\\u001b\\[\\d{1,2}m)(?<!npx )errand (?=(?:${nouns.join('|')})\\b)`,
  'gm',
);

/**
 * A text for people, its command lines as this terminal takes them: `npx errand order list` where `errand` is not on the
 * PATH. What no terminal shows stays as it is, for scripts and records.
 */
export function asTyped(text: string, io: Io, stream: 'stdout' | 'stderr' = 'stderr'): string {
  if (!io[stream].isTerminal || !text.includes('errand ')) return text;
  const name = io.commandName?.() ?? 'errand';
  return name === 'errand' ? text : text.replace(commandLine, (_, before: string) => `${before}${name} `);
}
