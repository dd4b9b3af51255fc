import { describeProgram } from './describe.ts';
import type { Tree } from './tree.ts';

/** The program's commands. In the built program the build has put the tree itself in place of this file. */
export const programTree = (): Promise<Tree> => describeProgram();
