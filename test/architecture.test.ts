import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const source = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(source, name), 'utf8') }));

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** Every import of every file: ours relative to src, others by their name. */
const imports: Import[] = files.flatMap(({ name, text }) => {
  const statements = text.matchAll(
    /(?:import|export)\s+(type\s+)?[^'";]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)|import\s+'([^']+)'/g,
  );
  return [...statements].map(([, type, plain, dynamic, bare]) => {
    const target = plain ?? dynamic ?? bare ?? '';
    const to = target.startsWith('.')
      ? relative(source, resolve(dirname(join(source, name)), target))
      : target;
    return { from: name, to, typeOnly: type !== undefined };
  });
});

const within = (folder: string) => (name: string) => name === `${folder}.ts` || name.startsWith(`${folder}/`);
const openToAll = [
  'errors.ts',
  'io.ts',
  'child-output.ts',
  'clock.ts',
  'network',
  'private-files.ts',
  'shell-word.ts',
  'wait',
  'redact',
];

function offenders(folder: string, mayImport: readonly string[]): string[] {
  const inside = within(folder);
  return imports
    .filter(({ from, to }) => inside(from) && !inside(to) && !to.startsWith('node:'))
    .filter(
      ({ to, typeOnly }) =>
        !mayImport.some(
          (allowed) =>
            allowed === to || to.startsWith(`${allowed}/`) || (typeOnly && allowed === `type ${to}`),
        ),
    )
    .map(({ from, to }) => `${from} imports ${to}`);
}

describe('who may import whom', () => {
  test('the contract imports zod only', () => {
    expect(offenders('contract', ['zod'])).toEqual([]);
  });

  test('the sandbox imports the contract and what guards files and connections, and nothing else of ours', () => {
    const ours = offenders('sandbox', ['contract', 'sqlite', 'network', 'private-files.ts', 'wait']);
    expect(ours).toEqual([]);
  });

  test('three doors lead to the sandbox: embedded, serve, and for a TAB peek', () => {
    const doors = imports.filter(({ from, to }) => to.startsWith('sandbox/') && !from.startsWith('sandbox/'));
    expect(new Set(doors.map(({ from, to }) => `${from} -> ${to}`))).toEqual(
      new Set([
        'sandbox-door.ts -> sandbox/embedded.ts',
        'sandbox-door.ts -> sandbox/serve.ts',
        'cli/completion/sources.ts -> sandbox/peek.ts',
      ]),
    );
  });

  test("only the sandbox's doors and what all of its parts share lie beside its folders", () => {
    const loose = files.map(({ name }) => name).filter((name) => /^sandbox\/[^/]+$/.test(name));
    const shared = ['config.ts', 'open.ts', 'service.ts'];
    const doors = ['embedded.ts', 'peek.ts', 'serve.ts'];
    expect(loose.toSorted()).toEqual([...shared, ...doors].toSorted().map((name) => `sandbox/${name}`));
  });

  test("the sandbox's store knows nothing of what it keeps", () => {
    expect(offenders('sandbox/store', ['contract', 'sqlite', 'private-files.ts', 'wait'])).toEqual([]);
  });

  test("an order's life is pure: it knows the contract alone", () => {
    expect(offenders('sandbox/orders/lifecycle', ['contract', 'network/trim-slashes.ts'])).toEqual([]);
  });

  test('a feature of the sandbox knows of its server what handlers need, and of its pages the paths', () => {
    const server = ['handler', 'refusal', 'wire', 'caller', 'csv', 'request'].map(
      (name) => `sandbox/http/${name}.ts`,
    );
    const features = files
      .map(({ name }) => /^sandbox\/([^/]+)\//.exec(name)?.[1])
      .filter((name) => name !== undefined && !['http', 'store', 'control', 'pages'].includes(name));
    const wrong = imports.filter(
      ({ from, to }) =>
        features.some((feature) => from.startsWith(`sandbox/${feature}/`)) &&
        /^sandbox\/(http|pages)\//.test(to) &&
        ![...server, 'sandbox/pages/paths.ts'].includes(to),
    );
    expect(wrong).toEqual([]);
  });

  test('only the server shows pages', () => {
    const shows = imports
      .filter(({ from, to }) => to.startsWith('sandbox/pages/') && !from.startsWith('sandbox/pages/'))
      .filter(({ from, to }) => !from.startsWith('sandbox/http/') && to !== 'sandbox/pages/paths.ts');
    expect(shows).toEqual([]);
  });

  test('http imports the contract and undici', () => {
    expect(offenders('http', ['contract', 'undici', ...openToAll])).toEqual([]);
  });

  test('settings import the contract, conf and the lock', () => {
    expect(
      offenders('settings', [
        'contract',
        'conf',
        'proper-lockfile',
        'output/time.ts',
        'output/result.ts',
        ...openToAll,
      ]),
    ).toEqual([]);
  });

  test('state imports the contract and the databases', () => {
    expect(offenders('state', ['contract', 'sqlite', ...openToAll])).toEqual([]);
  });

  test('only sqlite loads SQLite, and it knows nothing of who uses it', () => {
    expect(offenders('sqlite', ['@photostructure/sqlite', ...openToAll])).toEqual([]);
    const loads = imports.filter(({ to }) => to === '@photostructure/sqlite').map(({ from }) => from);
    expect(new Set(loads)).toEqual(new Set(['sqlite/load.ts']));
  });

  test('webhooks import the contract and the state', () => {
    expect(offenders('webhooks', ['contract', 'state', ...openToAll])).toEqual([]);
  });

  test('a noun imports no other noun, and none of the libraries behind the walls', () => {
    const wrong = imports.filter(({ from, to }) => {
      const noun = /^commands\/([^/]+)\//.exec(from)?.[1];
      const other = /^commands\/([^/]+)\//.exec(to)?.[1];
      if (noun === undefined) return false;
      return (other !== undefined && other !== noun) || /^(undici|conf|commander|sandbox)\b/.test(to);
    });
    expect(wrong).toEqual([]);
  });

  test('only cli and program know commander', () => {
    const knows = imports.filter(({ to }) => to === 'commander').map(({ from }) => from);
    expect(knows.filter((name) => name !== 'program.ts' && !within('cli')(name))).toEqual([]);
  });

  test('cli imports the contract, the output and types of the context, and no command', () => {
    const ours = offenders('cli', [
      'contract',
      'output',
      'type context.ts',
      'commander',
      'yaml',
      'http/paging.ts',
      'type http/client-types.ts',
      'request-preview.ts',
      ...openToAll,
    ]);
    expect(ours.filter((offence) => !within('cli/completion')(offence.split(' ')[0] ?? ''))).toEqual([]);
  });

  test('what answers a TAB loads nothing that runs commands', () => {
    const madeByTheBuild = [
      'cli/completion/program-tree.ts',
      'cli/completion/describe.ts',
      'cli/completion/hints.ts',
    ];
    const wrong = offenders('cli/completion', ['settings', 'state', 'sqlite', 'sandbox/peek.ts']).filter(
      (offence) => !madeByTheBuild.some((file) => offence.startsWith(file)),
    );
    expect(wrong).toEqual([]);
  });

  test('only prompt asks', () => {
    const asks = imports.filter(({ to }) => to.startsWith('@inquirer/')).map(({ from }) => from);
    expect(asks.every(within('prompt'))).toBe(true);
  });

  test('zod is loaded by the shapes only', () => {
    const loads = imports.filter(({ to, typeOnly }) => to === 'zod' && !typeOnly).map(({ from }) => from);
    const elsewhere = loads.filter((from) => !from.startsWith('contract/schemas/'));
    expect(elsewhere).toEqual(['contract/openapi.ts']);
  });
});

describe('one place for each decision', () => {
  const matches = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ name }) => name);

  test('only main and the settings see the environment', () => {
    expect(
      matches(/process\.env/).filter((name) => name !== 'main.ts' && !name.startsWith('settings/')),
    ).toEqual(['io.ts']);
  });

  test('only main decides the exit', () => {
    expect(matches(/process\.exit\b/)).toEqual(['main.ts']);
  });

  test('no path of the service stands outside the table', () => {
    const literal = /['"`]\/(orders|returns|managed-accounts|retailers|wallet|agent)\b/;
    expect(matches(literal).filter((name) => !name.startsWith('contract/operations/'))).toEqual([]);
  });
});

describe('size', () => {
  const lengths = files.map(({ name, text }) => ({ name, lines: text.split('\n').length - 1 }));

  test('no file is over 300 lines', () => {
    expect(lengths.filter(({ lines }) => lines > 300)).toEqual([]);
  });

  test('a verb is at most 150 lines', () => {
    expect(lengths.filter(({ name, lines }) => /^commands\/[^/]+\//.test(name) && lines > 150)).toEqual([]);
  });
});
