import { type HelpPage, pageOf } from '../cli/help/page.ts';
import { describedProgram } from './program.ts';

/** The page of the program itself. In the built program the build has put it in place of this file. */
export const rootPage = async (): Promise<HelpPage> => pageOf(await describedProgram([]));
