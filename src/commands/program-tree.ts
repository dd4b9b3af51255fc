import type { Tree } from '../cli/completion/tree.ts';
import { describeProgram } from './describe.ts';

/** The program's commands. The built program reads what the build has written of them, in place of this file. */
export const programTree = (_words: readonly string[]): Promise<Tree> => describeProgram();
