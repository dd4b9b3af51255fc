import { readFileSync } from 'node:fs';

/** Shared options as shown by help; one per line in `global-options.txt`. */
const all = readFileSync(new URL('./global-options.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [, flags = '', summary = ''] = /^(.*?) {2,}(.*)$/.exec(line) ?? [];
    return { flags, summary, name: /--[\w-]+/.exec(flags)?.[0] ?? flags };
  });

const block = /^Global options:\n((?: {2}.*\n)+)/gm;

/**
 * Abbreviates the global options block of a help text. Its summary column and the missing options determine every byte
 * of it; a block that differs in any byte is kept as printed.
 */
export const withNamedGlobalOptions = (help: string): string =>
  help.replace(block, (whole, printed: string) => {
    const shown = all.filter(({ flags }) => printed.includes(`  ${flags} `));
    const column = printed.indexOf(shown[0]?.summary ?? '\n');
    const expected = shown.map(({ flags, summary }) => `${`  ${flags}`.padEnd(column)}${summary}\n`).join('');
    const lacking = all.filter((option) => !shown.includes(option)).map(({ name }) => name);
    const without = lacking.length === 0 ? '' : `, without ${lacking.join(' ')}`;
    return expected === printed
      ? `Global options: global-options.txt at column ${column}${without}\n`
      : whole;
  });
