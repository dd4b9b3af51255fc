import { UsageError } from '../../platform/errors.ts';

/**
 * `Name: value` lines as headers, names in lower case; one given twice is sent as a list. The client checks names and
 * values. @throws UsageError for what is not a header, and for a credential given by hand.
 */
export function readHeaders(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, given = '', value = ''] = /^([^:]*):(.*)$/s.exec(line) ?? [];
    const name = given.trim().toLowerCase();
    if (name === '') throw new UsageError("-H takes 'Name: value'");
    if (name === 'authorization') throw byHand();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value.trim() : `${before}, ${value.trim()}`);
  }
  return Object.fromEntries(headers);
}

/** On the command line a key stays in the shell's history and in the list of processes. */
const byHand = (): UsageError =>
  new UsageError('-H does not take an Authorization header: everyone on this machine could read the key', {
    hint: 'Set ERRAND_API_KEY, or store the key from stdin with `errand auth token`; it is sent by itself.',
    next: [{ command: 'errand auth status', when: 'to see which key is used' }],
  });
