import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
  /** A dynamic import, loaded on first use. */
  readonly isLazy: boolean;
}

/** All imports of all files: ours relative to src, others by package name. */
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

/** The files of a part. Fails if there are none, since a rule about them would pass vacuously. */
function filesOf(part: string): readonly string[] {
  const found = files
    .map(({ name }) => name)
    .filter((name) => name === part || within(part.replace(/\.ts$/, ''))(name));
  expect(found, `files of ${part}`).not.toEqual([]);
  return found;
}

/**
 * Lists a part's forbidden imports. @param mayImport files, folders and libraries; a `type ` prefix allows types only.
 */
function offenders(part: string, mayImport: readonly string[]): string[] {
  filesOf(part);
  const inside = within(part.replace(/\.ts$/, ''));
  const allowed = mayImport.map((one) => one.replace(/^type /, ''));
  for (const one of allowed.filter((name) => rooms.has(name.split('/')[0] ?? ''))) filesOf(one);
  const isAllowed = ({ to, typeOnly }: Import): boolean =>
    mayImport.some((one, index) => {
      const target = allowed[index] ?? one;
      return (target === one || typeOnly) && (to === target || to.startsWith(`${target}/`));
    });
  return imports
    .filter(({ from, to }) => inside(from) && !inside(to) && !to.startsWith('node:'))
    .filter((found) => !isAllowed(found))
    .map(({ from, to }) => `${from} imports ${to}`);
}

/** Parses a room's allowed imports from its README's "May import:" line. */
function mayImport(room: string): readonly string[] {
  const readme = readFileSync(join(source, room, 'README.md'), 'utf8');
  const [, named] = /^May import: (.*)\.$/m.exec(readme) ?? [];
  expect(named, `${room}/README.md says "May import: …."`).toBeDefined();
  return named === 'nothing of ours' ? [] : (named ?? '').split(', ');
}

/** The layers, from the top: a room imports only from rows below; rooms in one row do not import each other. */
const rows = [
  ['commands'],
  ['integrations'],
  ['cli'],
  ['bulk', 'standing'],
  ['orders'],
  ['spending'],
  ['run'],
  ['http', 'config', 'journal'],
  ['format'],
  ['api'],
  ['platform'],
] as const;
const rooms: ReadonlySet<string> = new Set([...rows.flat(), 'sandbox']);
const entries = ['complete.ts', 'main.ts', 'manual.ts', 'quick.ts', 'sandbox-door.ts'];

/** The sandbox's entry points, each with the files allowed to import it. */
const waysIn: Readonly<Record<string, readonly RegExp[]>> = {
  'sandbox-door.ts': [/^cli\/client\//, /^commands\/sandbox\//, /^commands\/webhook\/listen\.ts$/],
  'sandbox/embedded.ts': [/^sandbox-door\.ts$/],
  'sandbox/serve.ts': [/^sandbox-door\.ts$/],
  'sandbox/in-process.ts': [/^sandbox-door\.ts$/, /^integrations\/sdk\//],
  'sandbox/peek.ts': [/^cli\/completion\/sources\.ts$/],
};

/** The parts allowed to load each library; every runtime library has a row. */
const walls: Readonly<Record<string, readonly string[]>> = {
  zod: ['api', 'integrations/mcp'],
  '@modelcontextprotocol/server': ['integrations/mcp'],
  undici: ['http'],
  conf: ['config'],
  'proper-lockfile': ['config'],
  '@photostructure/sqlite': ['platform/sqlite'],
  postgres: ['journal/postgres/connect'],
  commander: ['cli', 'commands/program', 'commands/describe', 'manual'],
  '@inquirer': ['cli/prompt'],
  'cli-table3': ['cli/output'],
  'cli-progress': ['cli/output'],
  chalk: ['cli/output'],
  'string-width': ['format/width'],
  'csv-stringify': ['format/csv'],
  '@jmespath-community/jmespath': ['cli/output'],
  yaml: ['cli', 'format', 'spending', 'standing'],
  'csv-parse': ['bulk', 'spending'],
  yauzl: ['bulk/xlsx'],
  saxes: ['bulk/xlsx'],
  vitest: ['integrations/sdk/vitest'],
};

describe('the rooms', () => {
  test('src holds the rooms, the entries and the one way to the sandbox, and nothing else', () => {
    const top = new Set(files.map(({ name }) => name.split('/', 1)[0] ?? ''));
    expect([...top].toSorted()).toEqual([...rooms, ...entries].toSorted());
  });

  test.each(rows.flatMap((row, level) => row.map((room) => ({ room, below: rows.slice(level + 1).flat() }))))(
    '$room imports what is below it',
    ({ room, below }) => {
      filesOf(room);
      expect(mayImport(room)).toEqual(below);
      const wrong = imports
        .filter(({ from, to }) => within(room)(from) && !within(room)(to))
        .filter(({ to }) => rooms.has(to.split('/', 1)[0] ?? '') || entries.includes(to))
        .filter(({ from, to }) => !waysIn[to]?.some((way) => way.test(from)))
        .filter(({ to }) => !below.some((one) => within(one)(to)));
      expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
    },
  );

  test('the sandbox imports what a service and its client both know', () => {
    expect(mayImport('sandbox')).toEqual(['format', 'api', 'platform']);
    expect(offenders('sandbox', ['format', 'api', 'platform'])).toEqual([]);
  });

  test('the sandbox is reached by its five ways in', () => {
    const taken = imports.filter(
      ({ from, to }) =>
        waysIn[to] !== undefined || (within('sandbox')(to) && !within('sandbox')(from) && to !== 'sandbox'),
    );
    const outside = taken.filter(({ from }) => !within('sandbox')(from));
    const wrong = outside.filter(({ from, to }) => !waysIn[to]?.some((way) => way.test(from)));
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
    expect(new Set(outside.map(({ to }) => to))).toEqual(new Set(Object.keys(waysIn)));
  });

  test('the way to the sandbox takes of the program its settings alone', () => {
    const ours = imports
      .filter(({ from }) => from === 'sandbox-door.ts')
      .map(({ to }) => to.split('/', 1)[0]);
    expect(ours.filter((to) => !['sandbox', 'config', 'api', 'platform'].includes(to ?? ''))).toEqual(
      ours.filter((to) => to?.startsWith('node:')),
    );
  });

  test('each library is loaded behind its wall', () => {
    for (const [library, parts] of Object.entries(walls)) {
      const loads = imports.filter(({ to }) => to === library || to.startsWith(`${library}/`));
      expect(loads, `imports of ${library}`).not.toEqual([]);
      for (const part of parts) filesOf(part);
      const wrong = loads.filter(
        ({ from, typeOnly }) => !typeOnly && !parts.some((part) => within(part)(from)),
      );
      expect(wrong).toEqual([]);
    }
    const unnamed = imports.filter(
      ({ to }) =>
        !to.startsWith('node:') &&
        !rooms.has(to.split('/', 1)[0] ?? '') &&
        !entries.includes(to) &&
        !existsSync(join(source, to)) &&
        !Object.keys(walls).some((library) => to === library || to.startsWith(`${library}/`)),
    );
    expect(unnamed).toEqual([]);
  });
});

test('no file imports itself through others, types counted', () => {
  const left = new Map(files.map(({ name }) => [name, new Set<string>()]));
  for (const { from, to, isLazy } of imports) if (!isLazy && left.has(to)) left.get(from)?.add(to);
  expect([...left.values()].flatMap((to) => [...to]).length).toBeGreaterThan(files.length);
  // What imports nothing that is left is in no circle.
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [name, to] of left) if (![...to].some((one) => left.has(one))) left.delete(name);
  }
  expect([...left.keys()]).toEqual([]);
});

describe('finer walls', () => {
  test('the contract imports zod and what is a URL, and what is open to all imports no library', () => {
    expect(offenders('api', ['zod', 'platform/net/urls.ts'])).toEqual([]);
    expect(offenders('platform', ['@photostructure/sqlite'])).toEqual([]);
  });

  test('the client of the service knows the contract and undici', () => {
    expect(offenders('http', ['api', 'undici', 'format/raw-records.ts', 'platform'])).toEqual([]);
  });

  test('the settings know how they are stored and shown', () => {
    const known = ['api', 'conf', 'proper-lockfile', 'format', 'platform'];
    expect(offenders('config', known)).toEqual([]);
  });

  test('the journal knows the contract and its databases', () => {
    const forms = ['format/canonical.ts', 'format/canonical-need.ts', 'format/database-address.ts'];
    const known = ['api', 'postgres', ...forms, 'platform'];
    expect(offenders('journal', known)).toEqual([]);
  });

  test('what prints knows results, types of the contract and its libraries', () => {
    const libraries = Object.keys(walls).filter((library) => walls[library]?.includes('cli/output'));
    const known = ['format', 'type api', 'type run', 'yaml', 'platform', ...libraries];
    expect(offenders('cli/output', known)).toEqual([]);
  });

  test('what asks knows what prints, and types of the context', () => {
    const known = ['cli/output', 'type format', 'type run', '@inquirer/prompts', 'platform'];
    expect(offenders('cli/prompt', known)).toEqual([]);
  });

  test('the framework of commands knows no command and no feature', () => {
    const apart = ['client', 'completion', 'context', 'orders', 'output', 'prompt', 'report-printed'];
    const known = ['cli/output', 'api', 'format', 'run', 'commander', 'yaml', 'platform'];
    const wrong = offenders('cli', [...known, 'http/paging.ts', 'type http/client.ts']);
    const isApart = (offence: string) =>
      apart.some((part) => within(`cli/${part}`)(offence.split(' ')[0] ?? ''));
    expect(wrong.filter((offence) => !isApart(offence))).toEqual([]);
  });

  test('zod is loaded by the shapes only', () => {
    const loads = imports.filter(({ to, typeOnly }) => to === 'zod' && !typeOnly).map(({ from }) => from);
    const elsewhere = loads.filter((from) => !/^api\/(?:scenario|schemas|outputs)\//.test(from));
    expect(new Set(elsewhere)).toEqual(new Set(['api/openapi.ts', 'integrations/mcp/arguments.ts']));
  });

  test("only the sandbox's ways in and what all of its parts share lie beside its folders", () => {
    const loose = files.map(({ name }) => name).filter((name) => /^sandbox\/[^/]+$/.test(name));
    const shared = ['app.ts', 'config.ts', 'open.ts', 'routes.ts'];
    const ways = ['embedded.ts', 'in-process.ts', 'peek.ts', 'serve.ts'];
    expect(loose.toSorted()).toEqual([...shared, ...ways].toSorted().map((name) => `sandbox/${name}`));
  });

  test("the sandbox's store knows nothing of what it keeps", () => {
    expect(offenders('sandbox/store', ['api', 'platform'])).toEqual([]);
  });

  test("the sandbox's server knows no feature: those register their routes and handlers", () => {
    const known = [
      'api',
      'platform',
      'sandbox/config.ts',
      'sandbox/store',
      'type sandbox/catalogue/catalogue.ts',
    ];
    // A browser is shown a page where its request is refused.
    const apart = (offence: string) => offence.endsWith(' imports sandbox/console/html.ts');
    expect(offenders('sandbox/server', known).filter((offence) => !apart(offence))).toEqual([]);
  });

  test("an order's life is pure: it knows the contract alone", () => {
    const pure = ['api', 'platform/net/urls.ts'];
    expect(offenders('sandbox/orders/lifecycle', pure)).toEqual([]);
  });

  test('a feature of the sandbox knows of its server what handlers and routes need', () => {
    const server = ['service', 'handler', 'refusal', 'wire', 'caller', 'request', 'routes'].map(
      (name) => `sandbox/server/${name}.ts`,
    );
    for (const file of server) filesOf(file);
    const features = files
      .map(({ name }) => /^sandbox\/([^/]+)\//.exec(name)?.[1])
      .filter((name) => name !== undefined && !['server', 'store', 'control', 'console'].includes(name));
    expect(features).not.toEqual([]);
    const wrong = imports.filter(
      ({ from, to }) =>
        features.some((feature) => from.startsWith(`sandbox/${feature}/`)) &&
        /^sandbox\/(server|console)\//.test(to) &&
        !server.includes(to),
    );
    expect(wrong).toEqual([]);
  });

  test('only the server and the app show pages', () => {
    filesOf('sandbox/console');
    const shows = imports
      .filter(({ from, to }) => within('sandbox/console')(to) && !within('sandbox/console')(from))
      .filter(({ from }) => !within('sandbox/server')(from) && !within('sandbox/app')(from))
      .filter(({ from, to }) => from !== 'sandbox/routes.ts' || to !== 'sandbox/console/routes.ts');
    expect(shows).toEqual([]);
  });

  test('only the journal, the sandbox and completion open databases', () => {
    const opens = imports
      .filter(
        ({ to, typeOnly }) =>
          within('platform/sqlite')(to) && to !== 'platform/sqlite/database-error.ts' && !typeOnly,
      )
      .map(({ from }) => from)
      .filter((from) => !['platform', 'journal', 'sandbox'].some((part) => within(part)(from)));
    expect(opens).toEqual(['cli/completion/sources.ts']);
  });

  test('what makes a run loads the costly things when they are needed', () => {
    filesOf('cli/context.ts');
    const atOnce = imports.filter(
      ({ from, typeOnly, isLazy }) => from === 'cli/context.ts' && !typeOnly && !isLazy,
    );
    const cheap = ['config', 'format', 'platform', 'cli/output'];
    expect(atOnce.filter(({ to }) => !cheap.some((part) => within(part)(to)))).toEqual([]);
  });

  test('only what makes a run opens its client', () => {
    filesOf('cli/client');
    const opens = imports.filter(({ from, to }) => within('cli/client')(to) && !within('cli/client')(from));
    expect(opens.map(({ from, isLazy }) => ({ from, isLazy }))).toEqual([
      { from: 'cli/context.ts', isLazy: true },
    ]);
  });

  test('run says what a command may touch, and prints and asks nothing', () => {
    const libraries = imports.filter(({ from, to }) => within('run')(from) && walls[to] !== undefined);
    expect(libraries).toEqual([]);
  });

  test('a library for programs imports no command, shows nothing and asks nothing', () => {
    filesOf('integrations/sdk');
    const behind = /^(?:commands|cli|platform\/sqlite)\/|^(?:main|sandbox-door)\.ts$/;
    const wrong = imports.filter(({ from, to }) => within('integrations/sdk')(from) && behind.test(to));
    expect(wrong).toEqual([]);
  });

  test('the tools for agents neither show, ask nor run commands', () => {
    filesOf('integrations/mcp');
    const behind = /^(?:commands|cli|config|platform\/sqlite)\//;
    const wrong = imports.filter(({ from, to }) => within('integrations/mcp')(from) && behind.test(to));
    expect(wrong).toEqual([]);
    const served = imports.filter(
      ({ from, to }) =>
        within('integrations/mcp')(to) &&
        !within('integrations/mcp')(from) &&
        to !== 'integrations/mcp/names.ts',
    );
    expect(served).not.toEqual([]);
    expect(served.filter(({ from, isLazy }) => from !== 'commands/mcp/index.ts' || !isLazy)).toEqual([]);
  });

  test('webhooks know the contract and the journal', () => {
    expect(offenders('integrations/webhooks', ['api', 'journal', 'format', 'platform'])).toEqual([]);
  });

  test('the features of orders import one another one way', () => {
    const below = ['run', 'http', 'config', 'journal', 'format', 'api', 'platform'];
    expect(offenders('orders/payments', below)).toEqual([]);
    expect(offenders('orders/addresses', below)).toEqual([]);
    expect(offenders('orders/products', below)).toEqual([]);
  });

  test('what completes a TAB loads nothing that runs commands', () => {
    const known = [
      ...['config', 'journal', 'format', 'api', 'platform'],
      ...['sandbox/peek.ts', 'standing/peek.ts', 'run/option.ts'],
    ];
    // Used only by the build, which reads the definitions.
    const apart = (offence: string) => offence.startsWith('cli/completion/tree.ts ');
    expect(offenders('cli/completion', known).filter((offence) => !apart(offence))).toEqual([]);
  });

  test('beside the nouns lies what names and describes all of them', () => {
    const loose = files.map(({ name }) => name).filter((name) => /^commands\/[^/]+$/.test(name));
    const described = [
      'built-tree',
      'describe',
      'mistake-facts',
      'program',
      'program-tree',
      'root-help',
      'root-page',
    ];
    expect(loose.toSorted()).toEqual(described.map((name) => `commands/${name}.ts`).toSorted());
  });

  test('a noun imports no other noun, and no database', () => {
    const wrong = imports.filter(({ from, to }) => {
      const noun = /^commands\/([^/]+)\//.exec(from)?.[1];
      const other = /^commands\/([^/]+)\//.exec(to)?.[1];
      if (noun === undefined) return false;
      return (other !== undefined && other !== noun) || within('platform/sqlite')(to);
    });
    expect(wrong).toEqual([]);
  });
});

describe('one place for each decision', () => {
  const matches = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ name }) => name);

  test('one function decides what is a URL: Node 20 forgets hosts beyond ASCII in URL.canParse', () => {
    expect(matches(/URL\.canParse\(/)).toEqual([]);
    expect(matches(/\b(?:isUrl|parseUrl)\(/).length).toBeGreaterThan(20);
  });

  test('only the entries, the streams and the settings see the environment', () => {
    const sees = matches(/process\.env/).filter((name) => !name.startsWith('config/'));
    expect(sees.toSorted()).toEqual(['main.ts', 'platform/streams.ts', 'quick.ts']);
  });

  test('only main decides the exit', () => {
    expect(matches(/process\.exit\b/)).toEqual(['main.ts']);
  });

  test('no path of the service stands outside the table', () => {
    const literal = /['"`]\/(orders|returns|managed-accounts|retailers|wallet|agent)\b/;
    const found = matches(literal);
    expect(found).not.toEqual([]);
    expect(found.filter((name) => !name.startsWith('api/operations/'))).toEqual([]);
  });
});

test('nothing groups by copying: a group of n is made of n additions, not of n copies', () => {
  const copies = /\.set\([^,\n]+, \[\.\.\.\(?[\w.#]+(?:\.get\(|, )|(#?\b\w+) = \[\.\.\.(?:this\.)?\1\b/;
  expect(files.filter(({ text }) => copies.test(text)).map(({ name }) => name)).toEqual([]);
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
