import type { Tree } from '../cli/completion/tree.ts';
import { describeProgram } from './describe.ts';

/** The program's command tree. The build replaces this file with one that reads the generated tree. */
export const programTree = (_words: readonly string[]): Promise<Tree> => describeProgram();
