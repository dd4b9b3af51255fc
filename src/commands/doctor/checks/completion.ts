import { readFileSync } from 'node:fs';
import { completionScript } from '../../../completion-scripts.ts';
import { shellWord } from '../../../shell-word.ts';
import { type Check, type Finding, info, ok, trouble } from '../check.ts';

export const completion: Check = {
  name: 'completion',
  run({ context }) {
    const found = (context.diagnosis?.completionPlaces ?? []).flatMap(({ shell, file }): Finding[] => {
      const installed = textOf(file);
      if (installed === undefined) return [];
      if (installed === completionScript(shell)) return [ok(`${file} is that of this version`)];
      return [
        trouble(`${file} is of another version of errand`, `errand completion ${shell} > ${shellWord(file)}`),
      ];
    });
    return found.length > 0
      ? found
      : info('no script at the usual places; errand completion --help says how');
  },
};

/** undefined where there is no such file, or it is not for this user to read. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
