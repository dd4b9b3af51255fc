import { type HelpLook, layOutPage } from '../cli/help/layout.ts';
import { rootPage } from './root-page.ts';

/** The help of the program itself, without its parser of command lines. */
export const rootHelp = async (look: HelpLook): Promise<string> => layOutPage(await rootPage(), look);
