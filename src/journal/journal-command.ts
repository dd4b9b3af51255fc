import { shellWord } from '../platform/shell.ts';

/** Shell-quoted command that settles a key in doubt; a user's own key may contain anything. */
export function journalCommand(verb: 'resume' | 'forget', key: string, flags = ''): string {
  const command = `errand order journal ${verb}`;
  return key.startsWith('-')
    ? `${command}${flags} -- ${shellWord(key)}`
    : `${command} ${shellWord(key)}${flags}`;
}
