import type { Io } from '../../platform/streams.ts';

/** Top-level commands. Text is a command line if it starts with `errand` and one of these names. */
const nouns = [
  ...['quickstart', 'search', 'product', 'retailer', 'order', 'track', 'return', 'bulk', 'wallet', 'spend'],
  ...[
    'reconcile',
    'undo',
    'standing',
    'policy',
    'approval',
    'audit',
    'webhook',
    'agent',
    'api',
    'schema',
    'usage',
    'legacy',
  ],
  ...[
    'mcp',
    'sandbox',
    'auth',
    'account',
    'address',
    'profile',
    'config',
    'doctor',
    'completion',
    'skill',
    'help',
  ],
  'COMMAND',
];
const commandLine = new RegExp(
  `(^|[\\s\`$(|]|\\u001b\\[\\d{1,2}m)(?<!npx )errand (?=(?:${nouns.join('|')})\\b)`,
  'gm',
);

/**
 * Rewrites command lines in user-facing text for this terminal: `npx errand order list` if `errand` is not on the PATH.
 * Output not shown on a TTY stays unchanged, for scripts and records.
 */
export function asTyped(text: string, io: Io, stream: 'stdout' | 'stderr' = 'stderr'): string {
  if (!io[stream].isTerminal || !text.includes('errand ')) return text;
  const name = io.commandName?.() ?? 'errand';
  return name === 'errand' ? text : text.replace(commandLine, (_, before: string) => `${before}${name} `);
}
