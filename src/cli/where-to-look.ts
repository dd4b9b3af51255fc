/** A command as far as its name goes. */
export interface Named<C> {
  name(): string;
  aliases(): readonly string[];
  readonly commands: readonly C[];
}

/** The command that a line names, as far as its words are known. */
export function commandNamed<C extends Named<C>>(
  program: C,
  argv: readonly string[],
): { readonly command: C; readonly words: readonly string[] } {
  let command = program;
  const words = [program.name()];
  for (const word of argv) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!next) continue;
    command = next;
    words.push(next.name());
  }
  return { command, words };
}

/** Which help shows what a refused command line could have said. */
export function whereToLook<C extends Named<C>>(program: C, argv: readonly string[]): string {
  const { command, words } = commandNamed(program, argv);
  const what = command.commands.length > 0 ? 'lists the commands' : 'shows its arguments and flags';
  return `\`${words.join(' ')} --help\` ${what}.`;
}
