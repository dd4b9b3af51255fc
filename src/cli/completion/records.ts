import type { Environment } from '../../config/paths.ts';
import { complete } from './complete.ts';
import { candidateLookup } from './sources.ts';
import type { Candidate, Tree } from './tree.ts';

interface CompletionRequest {
  /** The words after the program's name. The last of them is to be completed. */
  readonly words: readonly string[];
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** Loads the part of the command tree to which these words can refer. */
  treeOf(words: readonly string[]): Promise<Tree>;
}

/** Maximum length of a description, in UTF-16 units. A longer description would break the shell's list. */
const maxText = 70;

/**
 * Output for the shell script: the mode, and then each candidate as `value TAB description`. NUL ends each item,
 * because no word on a command line contains NUL. All errors are swallowed, so that pressing TAB never disturbs the
 * line.
 */
export async function completionRecords({
  words,
  environment,
  platform,
  treeOf,
}: CompletionRequest): Promise<string> {
  try {
    const lookup = candidateLookup(environment, platform);
    const { mode, candidates } = await complete(await treeOf(words), words, lookup);
    return [mode, ...candidates.filter(canBeTyped).map(record)].map((text) => `${text}\0`).join('');
  } catch {
    return 'words\0';
  }
}

/** Keep a line break, because a quoted word may contain one. Other control characters would act on the terminal. */
const canBeTyped = ({ value }: Candidate): boolean => /^[^\x00-\x09\x0b-\x1f\x7f-\x9f]+$/.test(value);

/** Replaces control, bidirectional and invisible characters with spaces; the text is for display only. */
function record({ value, text = '' }: Candidate): string {
  const head = text.slice(0, 4 * maxText);
  // Compiling Unicode classes costs V8 a third of a millisecond, so skip it for plain ASCII.
  const isPlain = /^[\x20-\x7e]*$/.test(head);
  const plain = (isPlain ? head : head.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')).trim();
  return `${value}\t${plain.length > maxText ? `${plain.slice(0, maxText - 1)}…` : plain}`;
}
