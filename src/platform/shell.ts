/** Formats a word for a POSIX shell. The word is quoted only if that is needed. */
export const shellWord = (word: string): string =>
  // Quote a leading `=`, because zsh expands it to the path of a program.
  /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Template tag for a suggested command line. Every interpolated value is quoted. */
export const shellLine = (parts: TemplateStringsArray, ...words: readonly (string | number)[]): string =>
  parts.reduce((line, part, index) => line + shellWord(String(words[index - 1] ?? '')) + part);

/**
 * Formats an errand command as a user would type it.
 * @param words are all words after `errand`, such as the current arguments.
 */
export const typedCommand = (words: readonly string[]): string =>
  ['errand', ...words.map(shellWord)].join(' ');

/** The arguments without a certain option and its value. */
export const withoutOption = (argv: readonly string[], option: string): readonly string[] =>
  argv.filter((word, at) => !word.startsWith(`${option}=`) && word !== option && argv[at - 1] !== option);
