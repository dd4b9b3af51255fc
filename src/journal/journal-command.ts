import { shellWord } from '../platform/shell.ts';

/**
 * Command that settles a key in doubt. The key is shell-quoted, because a key chosen by the user may contain anything.
 */
export function journalCommand(verb: 'resume' | 'forget', key: string, flags = ''): string {
  const command = `errand order journal ${verb}`;
  return key.startsWith('-')
    ? `${command}${flags} -- ${shellWord(key)}`
    : `${command} ${shellWord(key)}${flags}`;
}
