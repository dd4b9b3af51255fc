import { plainLook } from './cli/help/layout.ts';
import { rootHelp } from './commands/root-help.ts';
import { wantsColor, writeNow } from './platform/streams.ts';
import { version } from './platform/version.ts';

/**
 * The entry of `errand --version` and of the program's own help, which need nothing of what runs commands. Where they
 * cannot be shown plainly and at once, the program does it. @returns the exit code.
 */
export async function main(process: NodeJS.Process): Promise<number> {
  const isVersion = process.argv[2] === '--version' || process.argv[2] === '-V';
  const bytes = Buffer.from(isVersion ? `${version}\n` : await rootHelp(plainLook));
  const written = isVersion || !wantsColor(false, process.env) ? writeNow(bytes) : 0;
  if (written === bytes.length) return 0;
  const program = await import('./main.ts');
  return written > 0 ? program.printText(process, bytes.subarray(written)) : program.main(process);
}
