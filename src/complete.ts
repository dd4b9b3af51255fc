import { completionRecords } from './cli/completion/records.ts';
import { programTree } from './commands/program-tree.ts';
import { writeNow } from './platform/streams.ts';

/**
 * Entry point of `errand __complete -- words…`, which shell scripts run on every TAB. Loads no code that only the
 * commands need.
 * @returns the exit code, which is always 0.
 */
export async function main(process: NodeJS.Process): Promise<number> {
  const { argv, env, platform } = process;
  const words = argv.slice(argv[3] === '--' ? 4 : 3);
  const bytes = Buffer.from(
    await completionRecords({ words, environment: env, platform, treeOf: programTree }),
  );
  const written = writeNow(bytes);
  if (written < bytes.length) process.stdout.on('error', () => {}).write(bytes.subarray(written));
  return 0;
}
