import type { Environment } from '../../config/paths.ts';
import { complete } from './complete.ts';
import { lookUpIn } from './sources.ts';
import type { Candidate, Tree } from './tree.ts';

interface CompletionRequest {
  /** The words after the program's name; the last one is completed. */
  readonly words: readonly string[];
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** The program's commands, as far as these words may name them. */
  treeOf(words: readonly string[]): Promise<Tree>;
}

/** Of a description, in UTF-16 units: a longer one would break the shell's list. */
const maxText = 70;

/**
 * What a shell's script reads: the mode, then each candidate as `value TAB description`, each ended by a NUL, which
 * no word of a command line holds. No failure is reported: a TAB must not disturb the line.
 */
export async function completionRecords({
  words,
  environment,
  platform,
  treeOf,
}: CompletionRequest): Promise<string> {
  try {
    const lookUp = lookUpIn(environment, platform);
    const { mode, candidates } = await complete(await treeOf(words), words, lookUp);
    return [mode, ...candidates.filter(canBeTyped).map(record)].map((text) => `${text}\0`).join('');
  } catch {
    return 'words\0';
  }
}

/** A line break can stand in a word, quoted; other controls are what a terminal obeys. */
const canBeTyped = ({ value }: Candidate): boolean => /^[^\x00-\x09\x0b-\x1f\x7f-\x9f]+$/.test(value);

/** Control, bidirectional and invisible characters become spaces; the text is only ever shown. */
function record({ value, text = '' }: Candidate): string {
  const begun = text.slice(0, 4 * maxText);
  // The classes of Unicode take V8 a third of a millisecond to compile.
  const isPlain = /^[\x20-\x7e]*$/.test(begun);
  const plain = (isPlain ? begun : begun.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')).trim();
  return `${value}\t${plain.length > maxText ? `${plain.slice(0, maxText - 1)}…` : plain}`;
}
