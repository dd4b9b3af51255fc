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
 * Rewrites command lines in user-facing text the way they must be typed on this terminal, such as `npx errand order
 * list` if `errand` is not on the PATH. Text that is not shown on a TTY stays unchanged, so that scripts and records
 * always see the same command lines.
 */
export function asTyped(text: string, io: Io, stream: 'stdout' | 'stderr' = 'stderr'): string {
  if (!io[stream].isTerminal || !text.includes('errand ')) return text;
  const name = io.commandName?.() ?? 'errand';
  return name === 'errand' ? text : text.replace(commandLine, (_, before: string) => `${before}${name} `);
}
