/** A command as far as its name goes. */
interface Named {
  name(): string;
  aliases(): readonly string[];
  readonly commands: readonly Named[];
}

/** Which help shows what a refused command line could have said, as far as its words are known. */
export function whereToLook(program: Named, argv: readonly string[]): string {
  let found = program;
  const words = [program.name()];
  for (const word of argv) {
    const next = found.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!next) continue;
    found = next;
    words.push(next.name());
  }
  const what = found.commands.length > 0 ? 'lists the commands' : 'shows its arguments and flags';
  return `\`${words.join(' ')} --help\` ${what}.`;
}
