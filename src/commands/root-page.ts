import { type HelpPage, pageOf } from '../cli/help/page.ts';
import { describedProgram } from './program.ts';

/** Help page of the program itself. The build replaces this file with the finished page. */
export const rootPage = async (): Promise<HelpPage> => pageOf(await describedProgram([]));
