import { completionRecords } from './cli/completion/records.ts';

/**
 * The entry of `errand __complete -- words…`, which the shells' scripts call at each TAB: it loads nothing of what
 * runs commands. @returns the exit code, always 0.
 */
export async function main({ argv, env, platform, stdout }: NodeJS.Process): Promise<number> {
  const words = argv.slice(argv[3] === '--' ? 4 : 3);
  stdout.on('error', () => {});
  stdout.write(await completionRecords({ words, environment: env, platform }));
  return 0;
}
