import { shellWord } from '../platform/shell.ts';

/** The command that ends the doubt about a key, as a shell takes it: a key of the user's own may hold anything. */
export function journalCommand(verb: 'resume' | 'forget', key: string, flags = ''): string {
  const command = `errand order journal ${verb}`;
  return key.startsWith('-')
    ? `${command}${flags} -- ${shellWord(key)}`
    : `${command} ${shellWord(key)}${flags}`;
}
