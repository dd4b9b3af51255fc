import { execFileSync } from 'node:child_process';
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
  /** Loaded when it is first needed. */
  readonly isLazy: boolean;
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
    return { from: name, to, typeOnly: type !== undefined, isLazy: dynamic !== undefined };
  });
});

const within = (folder: string) => (name: string) => name === `${folder}.ts` || name.startsWith(`${folder}/`);
/** Open to all parts but the contract. */
const openToAll = [
  'as-sent.ts',
  'errors.ts',
  'io.ts',
  'memory.ts',
  'child-command.ts',
  'child-output.ts',
  'clock.ts',
  'command-name.ts',
  'markup.ts',
  'network',
  'own-pipes.ts',
  'private-files.ts',
  'shell-word.ts',
  'v8-flags.ts',
  'wait',
  'redact',
];

/** What a part imports and may not. @param mayImport files, folders and libraries, after `type ` for their types alone. */
function offenders(part: string, mayImport: readonly string[]): string[] {
  const inside = within(part.replace(/\.ts$/, ''));
  const isAllowed = ({ to, typeOnly }: Import): boolean =>
    mayImport.some((allowed) => {
      const target = allowed.replace(/^type /, '');
      return (target === allowed || typeOnly) && (to === target || to.startsWith(`${target}/`));
    });
  return imports
    .filter(({ from, to }) => inside(from) && !inside(to) && !to.startsWith('node:'))
    .filter((found) => !isAllowed(found))
    .map(({ from, to }) => `${from} imports ${to}`);
}

/** The parts that may load a library; one that is not named is refused by the wall of each part. */
const walls: Readonly<Record<string, readonly string[]>> = {
  zod: ['contract', 'mcp'],
  '@modelcontextprotocol/server': ['mcp'],
  undici: ['http'],
  conf: ['settings'],
  'proper-lockfile': ['settings'],
  '@photostructure/sqlite': ['sqlite'],
  postgres: ['state/shared/connect'],
  commander: ['cli', 'program'],
  '@inquirer': ['prompt'],
  'cli-table3': ['output'],
  'cli-progress': ['output'],
  chalk: ['output'],
  'string-width': ['output'],
  'csv-stringify': ['output'],
  '@jmespath-community/jmespath': ['output'],
  yaml: ['output', 'cli', 'spending'],
  'csv-parse': ['bulk', 'spending'],
  vitest: ['sdk/vitest'],
};

/** What several commands say or do; the client and the questions are handed in. */
const features = ['orders', 'bulk', 'products', 'payments', 'addresses', 'spending', 'webhooks'];

describe('who may import whom', () => {
  test('the contract imports zod only', () => {
    expect(offenders('contract', ['zod'])).toEqual([]);
  });

  test('what is open to all imports nothing that is not', () => {
    expect(openToAll.flatMap((part) => offenders(part, openToAll))).toEqual([]);
  });

  test('each library is loaded behind its wall', () => {
    const wrong = imports.flatMap(({ from, to, typeOnly }) => {
      const wall = Object.entries(walls).find(([library]) => to === library || to.startsWith(`${library}/`));
      return typeOnly || wall?.[1].some((part) => within(part)(from)) !== false
        ? []
        : [`${from} loads ${to}`];
    });
    expect(wrong).toEqual([]);
  });

  test('the output imports types of the contract, and its libraries', () => {
    const libraries = Object.keys(walls).filter((library) => walls[library]?.includes('output'));
    expect(offenders('output', ['type contract', 'spreadsheet-cell.ts', ...libraries, ...openToAll])).toEqual(
      [],
    );
  });

  test('the sandbox imports the contract, the clock and what guards files and connections, and nothing else of ours', () => {
    const ours = offenders('sandbox', [
      'clock.ts',
      'contract',
      'sqlite',
      'network',
      'private-files.ts',
      'markup.ts',
      'shell-word.ts',
      'wait',
    ]);
    expect(ours).toEqual([]);
  });

  test('four doors lead to the sandbox: embedded, serve, for a TAB peek, and in-process for the tests of programs', () => {
    const doors = imports.filter(({ from, to }) => to.startsWith('sandbox/') && !from.startsWith('sandbox/'));
    expect(new Set(doors.map(({ from, to }) => `${from} -> ${to}`))).toEqual(
      new Set([
        'sandbox-door.ts -> sandbox/embedded.ts',
        'sandbox-door.ts -> sandbox/serve.ts',
        'scenario-door.ts -> sandbox/in-process.ts',
        ...['in-process-fetch', 'sandbox', 'sandbox-options', 'trigger'].map(
          (name) => `sdk/${name}.ts -> sandbox/in-process.ts`,
        ),
        'cli/completion/sources.ts -> sandbox/peek.ts',
      ]),
    );
  });

  test("only the sandbox's doors and what all of its parts share lie beside its folders", () => {
    const loose = files.map(({ name }) => name).filter((name) => /^sandbox\/[^/]+$/.test(name));
    const shared = ['config.ts', 'open.ts', 'service.ts'];
    const doors = ['embedded.ts', 'in-process.ts', 'peek.ts', 'serve.ts'];
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
        'type state/shared/address.ts',
        ...openToAll,
      ]),
    ).toEqual([]);
  });

  test('state imports the contract and the databases', () => {
    expect(offenders('state', ['contract', 'sqlite', 'postgres', ...openToAll])).toEqual([]);
  });

  test('sqlite knows nothing of who uses it', () => {
    expect(offenders('sqlite', ['@photostructure/sqlite', ...openToAll])).toEqual([]);
  });

  test('only the state, the sandbox and completion open databases', () => {
    const opens = imports
      .filter(({ to, typeOnly }) => within('sqlite')(to) && to !== 'sqlite/database-error.ts' && !typeOnly)
      .map(({ from }) => from)
      .filter((from) => !['sqlite', 'state', 'sandbox'].some((part) => within(part)(from)));
    expect(opens).toEqual(['cli/completion/sources.ts']);
  });

  test('prompt imports the output, and types of the context', () => {
    expect(offenders('prompt', ['output', 'type context.ts', '@inquirer/prompts', ...openToAll])).toEqual([]);
  });

  test('the context imports settings and output, and the costly things when they are needed', () => {
    const atOnce = imports.filter(
      ({ from, typeOnly, isLazy }) => from === 'context.ts' && !typeOnly && !isLazy,
    );
    const cheap = ['settings', 'output', 'wait'];
    const costly = atOnce.filter(
      ({ to }) => !cheap.some((part) => within(part)(to)) && ![...openToAll, 'service-clock.ts'].includes(to),
    );
    expect(costly).toEqual([]);
  });

  test('only the context opens the client of a run', () => {
    const opens = imports.filter(({ from, to }) => within('client')(to) && !within('client')(from));
    expect(opens.map(({ from, isLazy }) => ({ from, isLazy }))).toEqual([
      { from: 'context.ts', isLazy: true },
    ]);
  });

  test('a door for programs imports no command, shows nothing and asks nothing', () => {
    const behind = /^(?:commands|output|prompt|sandbox|sqlite)\/|^(?:main|program|context)\.ts$/;
    const wrong = imports.filter(
      ({ from, to }) => within('sdk')(from) && behind.test(to) && to !== 'sandbox/in-process.ts',
    );
    expect(wrong).toEqual([]);
  });

  test('a feature imports no command, and nothing that asks or runs commands', () => {
    const behind = /^(?:commands|prompt|sandbox)\/|^(?:main|program|sandbox-door)\.ts$/;
    const wrong = imports.filter(
      ({ from, to }) => features.some((feature) => within(feature)(from)) && behind.test(to),
    );
    expect(wrong).toEqual([]);
  });

  test('webhooks import the contract and the state', () => {
    expect(offenders('webhooks', ['contract', 'state', ...openToAll])).toEqual([]);
  });

  test('features import one another one way, and of the framework what reads a value', () => {
    const toGoOn = ['where-flags.ts', 'typed-id.ts', 'following.ts'];
    const shared = [
      'contract',
      'state',
      'http',
      'output',
      'type context.ts',
      'type order-context.ts',
      ...toGoOn,
      ...openToAll,
    ];
    const values = ['parse-option', 'parse-money', 'read-document', 'read-pipe'];
    const reading = ['define', 'from-contract', 'handles', 'listed', ...values];
    const cli = reading.map((name) => `${name === 'define' ? 'type ' : ''}cli/${name}.ts`);
    expect(offenders('payments', shared)).toEqual([]);
    expect(offenders('addresses', [...shared, ...cli])).toEqual([]);
    expect(offenders('products', [...shared, ...cli])).toEqual([]);
    const words = [
      'settings',
      'cli/near-words.ts',
      'cli/read-bytes.ts',
      'cli/parse-document.ts',
      'yaml',
      'csv-parse',
    ];
    expect(offenders('spending', [...shared, ...words])).toEqual([]);
    const orders = ['addresses', 'payments', 'products', 'spending'];
    expect(offenders('orders', [...shared, ...cli, ...orders])).toEqual([]);
    const files = ['settings', 'spreadsheet-cell.ts', 'csv-parse', 'cli/ids.ts', 'cli/near-words.ts'];
    expect(offenders('bulk', [...shared, ...cli, ...files, 'orders', 'addresses', 'spending'])).toEqual([]);
  });

  test('the tools for agents stand on the features, and neither show, ask nor run commands', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        within('mcp')(from) &&
        /^(?:commands|output|prompt|cli|sandbox|sqlite|settings)\/|^(?:main|program|sandbox-door)\.ts$/.test(
          to,
        ),
    );
    expect(wrong).toEqual([]);
    const served = imports.filter(
      ({ from, to }) => within('mcp')(to) && !within('mcp')(from) && to !== 'mcp/names.ts',
    );
    expect(served.map(({ from, isLazy }) => `${from} ${isLazy}`)).toEqual([
      'commands/mcp/index.ts true',
      'commands/mcp/index.ts true',
      'commands/mcp/index.ts true',
    ]);
  });

  test('no file lies loose beside the nouns', () => {
    expect(files.map(({ name }) => name).filter((name) => /^commands\/[^/]+$/.test(name))).toEqual([]);
  });

  test('a noun imports no other noun, and nothing of the sandbox and the databases', () => {
    const wrong = imports.filter(({ from, to }) => {
      const noun = /^commands\/([^/]+)\//.exec(from)?.[1];
      const other = /^commands\/([^/]+)\//.exec(to)?.[1];
      if (noun === undefined) return false;
      return (other !== undefined && other !== noun) || /^(?:sandbox|sqlite|main|program)\b/.test(to);
    });
    expect(wrong).toEqual([]);
  });

  test('cli imports the contract, the output and types of the context, and no command', () => {
    const ours = offenders('cli', [
      'contract',
      'output',
      'type context.ts',
      'type order-context.ts',
      'commander',
      'yaml',
      'http/paging.ts',
      'type http/client-types.ts',
      'request-preview.ts',
      ...openToAll,
    ]);
    // The page of the program itself is made by the build.
    const apart = (file: string) => within('cli/completion')(file) || file === 'cli/help/root-page.ts';
    expect(ours.filter((offence) => !apart(offence.split(' ')[0] ?? ''))).toEqual([]);
  });

  test('what completes a TAB loads nothing that runs commands', () => {
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

  test('zod is loaded by the shapes only', () => {
    const loads = imports.filter(({ to, typeOnly }) => to === 'zod' && !typeOnly).map(({ from }) => from);
    const elsewhere = loads.filter((from) => !/^contract\/(?:scenario|schemas|outputs)\//.test(from));
    expect(elsewhere.toSorted()).toEqual(['contract/openapi.ts', 'mcp/arguments.ts', 'mcp/arguments.ts']);
  });
});

describe('one place for each decision', () => {
  const matches = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ name }) => name);

  test('only the entries and the settings see the environment', () => {
    const entries = ['main.ts', 'quick.ts'];
    expect(
      matches(/process\.env/).filter((name) => !entries.includes(name) && !name.startsWith('settings/')),
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

test('nothing groups by copying: a group of n is made of n additions, not of n copies', () => {
  const copies = /\.set\([^,\n]+, \[\.\.\.\(?[\w.#]+(?:\.get\(|, )|(#?\b\w+) = \[\.\.\.(?:this\.)?\1\b/;
  expect(files.filter(({ text }) => copies.test(text)).map(({ name }) => name)).toEqual([]);
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

test('the top level holds nothing but what the house rules name', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const top = new Set(tracked.map((name) => name.split('/', 1)[0] ?? ''));
  const named = [
    ...['package.json', 'tsconfig.json', 'src', 'bin', 'test', 'completions', 'README.md', 'bench', 'docs'],
    ...['package-lock.json', 'biome.json', 'vitest.config.ts', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE'],
  ];
  expect([...top].filter((name) => !name.startsWith('.') && !named.includes(name))).toEqual([]);
});
