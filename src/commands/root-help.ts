import { type HelpStyle, layOutPage } from '../cli/help/layout.ts';
import { rootPage } from './root-page.ts';

/** Renders the program's own help without loading the command-line parser. */
export const rootHelp = async (style: HelpStyle): Promise<string> => layOutPage(await rootPage(), style);
