import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../../src/platform/version.ts';
import { bundled } from '../program.ts';
import type { Built } from '../stage.ts';
import type { SimulatedFault } from './fault.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Builds the program and the library from the sources, with a fault in them. @param folder gets the files. */
export async function builtWith(fault: SimulatedFault | undefined, folder: string): Promise<Built> {
  const plant = {
    name: 'plant',
    load(id: string) {
      const file = relative(root, id).split(sep).join('/');
      // No file is read for it.
      if (file === 'src/platform/version.ts')
        return { code: `export const version = '${version}';`, moduleType: 'js' as const };
      if (file !== fault?.file) return undefined;
      const text = readFileSync(id, 'utf8');
      if (text.split(fault.from).length !== 2) throw new Error(`${file} does not hold the text once`);
      return { code: text.replace(fault.from, () => fault.to), moduleType: 'ts' as const };
    },
  };
  const entry = (name: string): string => join(root, 'src', `${name}.ts`);
  const doors = ['index', 'safely', 'sandbox'].map((name) => [name, entry(`integrations/sdk/${name}`)]);
  const input = { main: entry('main'), ...Object.fromEntries(doors) };
  const program = await bundled(input, folder, plant);
  return { program, library: program };
}
