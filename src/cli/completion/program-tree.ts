import { describeProgram } from './describe.ts';
import type { Tree } from './tree.ts';

/** The program's commands. The built program reads what the build has written of them, in place of this file. */
export const programTree = (_words: readonly string[]): Promise<Tree> => describeProgram();
