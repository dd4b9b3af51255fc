import { readFileSync } from 'node:fs';

/** The options that commands share, as help shows them: a line each in `global-options.txt`. */
const all = readFileSync(new URL('./global-options.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [, flags = '', summary = ''] = /^(.*?) {2,}(.*)$/.exec(line) ?? [];
    return { flags, summary, name: /--[\w-]+/.exec(flags)?.[0] ?? flags };
  });

const block = /^Global options:\n((?: {2}.*\n)+)/gm;

/**
 * Names what global help a command shows, in place of repeating it: the column its summaries start at and the options it
 * lacks say every byte of the block. A block that differs in any byte stays as it was printed.
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
