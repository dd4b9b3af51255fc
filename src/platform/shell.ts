/** A word as a POSIX shell takes it: quoted only where it must be. */
export const shellWord = (word: string): string =>
  // zsh looks for a program where a word begins with `=`.
  /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** A command line to suggest: whatever stands in it that was not written here is quoted. */
export const shellLine = (parts: TemplateStringsArray, ...words: readonly (string | number)[]): string =>
  parts.reduce((line, part, index) => line + shellWord(String(words[index - 1] ?? '')) + part);

/** A command of errand as it is typed. @param words all that follows `errand`, such as the words of the running command. */
export const typedCommand = (words: readonly string[]): string =>
  ['errand', ...words.map(shellWord)].join(' ');
