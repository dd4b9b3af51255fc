import { plainStyle } from './cli/help/layout.ts';
import { rootHelp } from './commands/root-help.ts';
import { wantsColor, writeNow } from './platform/streams.ts';
import { version } from './platform/version.ts';

/**
 * Entry point for `errand --version` and for the help of the program itself, which need none of the command machinery.
 * If the output cannot be written at once in plain form, runs the full program instead.
 * @returns the exit code.
 */
export async function main(process: NodeJS.Process): Promise<number> {
  const isVersion = process.argv[2] === '--version' || process.argv[2] === '-V';
  const bytes = Buffer.from(isVersion ? `${version}\n` : await rootHelp(plainStyle));
  const written = isVersion || !wantsColor(false, process.env) ? writeNow(bytes) : 0;
  if (written === bytes.length) return 0;
  const program = await import('./main.ts');
  return written > 0 ? program.printText(process, bytes.subarray(written)) : program.main(process);
}
