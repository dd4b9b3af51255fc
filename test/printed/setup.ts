import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { outputSchemas } from '../../src/contract/outputs/schema.ts';
import { printingCommands } from '../../src/program.ts';
import { knownCommands } from '../program/known-commands.ts';

declare module 'vitest' {
  interface ProvidedContext {
    printedSchemas: string;
  }
}

/** Makes the schemas of all that the program prints, once for every test file; each reads them when it needs them. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-schemas-'));
  const file = join(folder, 'schemas.json');
  const commands = (await knownCommands()).map(({ path, names, command }) => ({
    path,
    names,
    isDefault: command.isDefault === true,
  }));
  writeFileSync(file, JSON.stringify({ commands, schemas: outputSchemas(await printingCommands()) }));
  project.provide('printedSchemas', file);
  return () => rmSync(folder, { recursive: true, force: true });
}
