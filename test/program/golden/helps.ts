import { Runner } from '../runner.ts';
import { makeWorkspace } from '../workspace.ts';
import { columns, type Printed } from './transcript.ts';

const asksForHelp = /^errand (?<words>[a-z -]*)--help$/;

/**
 * What the lines print that only ask for help. The program's own entry runs them one after another in one process: they
 * read no state, and a start for each takes longer than all of them.
 */
export async function helpsOf(lines: readonly string[]): Promise<ReadonlyMap<string, Printed>> {
  const runner = new Runner();
  const helps = new Map<string, Printed>();
  // Commands are shown as they can be typed there: `errand`, where the PATH has it.
  const workspace = makeWorkspace();
  const { PATH = '' } = workspace.environment;
  try {
    for (const line of lines.filter((one) => asksForHelp.test(one))) {
      const argv = line.split(' ').slice(1);
      const { code, crash, stdout, stderr } = await runner.run({
        argv,
        env: { PATH, NO_COLOR: '1', TERM: 'dumb' },
        columns,
      });
      if (crash !== undefined) throw new Error(`${line}: ${crash}`);
      helps.set(line, { code, stdout, stderr });
    }
  } finally {
    runner.stop();
    workspace.remove();
  }
  return helps;
}
