/** A word for a POSIX shell, quoted only if needed. */
export const shellWord = (word: string): string =>
  // zsh expands a leading `=` to a program's path.
  /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Template tag for a suggested command line; quotes every interpolated value. */
export const shellLine = (parts: TemplateStringsArray, ...words: readonly (string | number)[]): string =>
  parts.reduce((line, part, index) => line + shellWord(String(words[index - 1] ?? '')) + part);

/**
 * Formats an errand command as a user would type it. @param words are everything after `errand`, such as the current
 * arguments.
 */
export const typedCommand = (words: readonly string[]): string =>
  ['errand', ...words.map(shellWord)].join(' ');

/** Arguments without an option and its value. */
export const withoutOption = (argv: readonly string[], option: string): readonly string[] =>
  argv.filter((word, at) => !word.startsWith(`${option}=`) && word !== option && argv[at - 1] !== option);
