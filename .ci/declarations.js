// Writes the declarations of the doors for programs: what the compiler makes of their sources, without zod.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { doors } from './doors.js';
import { wireTypes } from './wire-types.js';

/** Modules whose types the user of a door has: Node's, and what a door is for. */
const outside = /^(?:node:|vitest$)/;
const imported = /(\bfrom\s*|\bimport\s*\(?\s*)(['"])([^'"]+)\2/g;

/**
 * @param loadSource gives a part of the sources
 * @param folder where the declarations go, each at its place in the sources
 * @throws where a door's types need a library that its users do not have
 */
export async function writeDeclarations(loadSource, folder) {
  const made = mkdtempSync(join(tmpdir(), 'errand-types-'));
  try {
    const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
    const config = join('.ci', 'declarations.tsconfig.json');
    execFileSync(process.execPath, [compiler, '-p', config, '--outDir', made], { stdio: 'inherit' });
    writeFileSync(
      join(made, 'integrations', 'sdk', 'wire.d.ts'),
      await wireTypes(await contract(loadSource)),
    );
    const seen = new Set(doors.map((door) => join(made, 'integrations', 'sdk', `${door}.d.ts`)));
    for (const file of seen) {
      const text = readFileSync(file, 'utf8').replace(imported, (_, before, quote, name) => {
        if (name.startsWith('.')) seen.add(resolve(dirname(file), name.replace(/\.ts$/, '.d.ts')));
        else if (!outside.test(name))
          throw new Error(
            `${relative(made, file)} takes types of ${name}, which users of the package do not have`,
          );
        return `${before}${quote}${name.replace(/\.ts$/, '.js')}${quote}`;
      });
      const target = join(folder, relative(made, file));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

async function contract(loadSource) {
  const { shapeSchema } = await loadSource('src/api/openapi.ts');
  const { schemas } = await loadSource('src/api/schemas/index.ts');
  const { operations } = await loadSource('src/api/operations/index.ts');
  const { fieldDoc } = await loadSource('src/api/field-docs.ts');
  const { errorTypes } = await loadSource('src/api/error-types.ts');
  const { errorCodes } = await loadSource('src/api/error-codes.ts');
  return { shapeSchema, schemas, operations, fieldDoc, errorTypes, errorCodes };
}
