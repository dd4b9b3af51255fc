import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as control from '../../src/api/control.ts';
import { errorCodes } from '../../src/api/error-codes.ts';
import { errorTypes } from '../../src/api/error-types.ts';
import * as events from '../../src/api/events.ts';
import { operations } from '../../src/api/operations/index.ts';
import { outputSchemas } from '../../src/api/outputs/schema.ts';
import { describedProgram, printingCommands } from '../../src/commands/program.ts';
import { preferences } from '../../src/config/preferences.ts';
import { profileFields, storedFields } from '../../src/config/stored.ts';
import { toolNames } from '../../src/integrations/mcp/names.ts';
import { auditKinds } from '../../src/journal/audit-entry.ts';
import { Journal } from '../../src/journal/journal.ts';
import { Spool } from '../../src/journal/postgres/spool.ts';
import { LastList, Titles } from '../../src/journal/saved-files.ts';
import { Uploads } from '../../src/journal/uploads.ts';
import { openWebhookStore } from '../../src/journal/webhook-store.ts';
import { exitCodes } from '../../src/platform/errors.ts';
import { openReader } from '../../src/platform/sqlite/load.ts';
import { readPolicy } from '../../src/spending/policy/read.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { shell } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { expectFrozen, expectStable, goneFrom } from './frozen.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const textOf = (lines: Iterable<string>): string => `${[...new Set(lines)].join('\n')}\n`;

/** Tables, columns with their types, indexes and triggers of a database of SQLite. */
function tablesOf(file: string): string[] {
  const database = openReader(file);
  try {
    const columns = database
      .prepare(
        `SELECT format('%s.%s %s', m.name, c.name, c.type) AS line FROM sqlite_schema m, pragma_table_info(m.name) c
         WHERE m.type = 'table' ORDER BY m.name, c.cid`,
      )
      .all();
    const others = database
      .prepare(
        "SELECT format('%s %s on %s', type, name, tbl_name) AS line FROM sqlite_schema WHERE type <> 'table' ORDER BY 1",
      )
      .all();
    return [...columns, ...others].map((row) => String(Object(row).line));
  } finally {
    database.close();
  }
}

describe('databases', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'errand-names-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('tables, columns, indexes and triggers on a machine', async (context) => {
    (await Journal.open(folder, Date.now)).close();
    (await Uploads.open(folder, Date.now)).close();
    (await openWebhookStore(folder, Date.now)).close();
    await (await TestService.start({ file: join(folder, 'sandbox.db') })).stop();
    const files = readdirSync(folder).filter((name) => name.endsWith('.db'));
    expect(files.sort()).toEqual(['journal.db', 'sandbox.db', 'uploads.db', 'webhooks.db']);
    const lines = files.flatMap((name) => tablesOf(join(folder, name)).map((line) => `${name} ${line}`));
    expectFrozen(context, 'tables.txt', textOf(lines));
  });

  describe.runIf(hasPostgres)('of a team', () => {
    const server = useServer();

    test('tables, columns, indexes, triggers and functions, and those of the copy on a machine', async (context) => {
      const database = await server().newDatabase();
      const shared = { address: { url: database.url, shown: 'team' } };
      (await Journal.open(folder, Date.now, { shared })).close();
      (await Uploads.open(folder, Date.now, { shared })).close();
      const found = await database.rows<{ line: string }>(`
        SELECT format('%s.%s %s', table_name, column_name, data_type) AS line, 1 AS kind, table_name AS name, ordinal_position AS place
          FROM information_schema.columns WHERE table_schema = 'errand'
        UNION ALL SELECT format('index %s on %s', indexname, tablename), 2, indexname, 0 FROM pg_indexes WHERE schemaname = 'errand'
        UNION ALL SELECT DISTINCT format('trigger %s on %s', trigger_name, event_object_table), 3, trigger_name::text, 0
          FROM information_schema.triggers WHERE trigger_schema = 'errand'
        UNION ALL SELECT format('function %s', proname), 4, proname::text, 0 FROM pg_proc WHERE pronamespace = 'errand'::regnamespace
        ORDER BY kind, name, place`);
      const [copy = ''] = readdirSync(folder).filter((name) => name.startsWith('team-'));
      const copied = ['journal.db', 'uploads.db'].flatMap((name) =>
        tablesOf(join(folder, copy, name)).map((line) => `team-*/${name} ${line}`),
      );
      expectFrozen(
        context,
        'team-tables.txt',
        textOf([...found.map(({ line }) => `errand.${line}`), ...copied]),
      );
    });
  });
});

test('files of a state and of a configuration', async (context) => {
  const workspace = makeWorkspace({ ERRAND_NO_INPUT: '1' });
  try {
    const ordered = await shell(
      workspace,
      `set -e; errand sandbox mint; errand sandbox snapshot one; errand policy init; errand search coffee --limit 1
       url=$(errand sandbox products -o id | grep test-success)
       errand order create --product $url --max-price '$50' --ship-to home
       errand standing add coffee --product $url --max-price '$50' --ship-to home --every 1mo --starts 2090-01-01
       errand standing run
       echo 'hunter2 hunter2' > password.txt
       errand account add --email ada@example.com --retailer membersbarn --password-file password.txt`,
    );
    expect(ordered.code, ordered.stderr).toBe(0);
    const state = join(workspace.folder, '.state');
    (await Uploads.open(state, Date.now)).close();
    (await openWebhookStore(state, Date.now)).close();
    new Titles(state, { service: 's', account: 'a' }).save([['https://shop.example/b', 'Beans']]);
    new LastList(state, 'a terminal', Date.now).write({
      kind: 'orders',
      profile: 'p',
      service: 's',
      rows: [],
    });
    const missed = { key: 'k', baseUrl: 's', isReported: true } as const;
    new Spool(state, 'd').save({ ...missed, kind: 'made', madeId: 'o' });
    const names = ['.config', '.state'].flatMap((folder) =>
      readdirSync(join(workspace.folder, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        // Those of SQLite itself come and go.
        .filter((name) => statSync(join(workspace.folder, name)).isFile() && !/-(?:wal|shm)$/.test(name)),
    );
    const lines = names.map((name) => name.replace(/[0-9a-f]{32}/, '<hash>')).sort();
    expectFrozen(context, 'files.txt', textOf(lines));
  } finally {
    workspace.remove();
  }
});

/** Where a schema has properties, and of which type: `order.items[].url: string`. What it refers to has lines of its own. */
function fieldsOf(node: unknown, path: string): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { $ref: ref, properties = {}, items, additionalProperties, enum: values } = Object(node);
  const { anyOf = [], oneOf = [], allOf = [], const: value } = Object(node);
  return [
    ...(typeof ref === 'string' ? [`${path} -> ${ref.replace('#/$defs/', '')}`] : []),
    ...(Array.isArray(values) ? values.map((one) => `${path} = ${one}`) : []),
    ...(value === undefined ? [] : [`${path} = ${value}`]),
    ...Object.entries(properties).flatMap(([name, one]) => {
      const types = typesOf(one).sort().join(' | ');
      return [`${path}.${name}${types === '' ? '' : `: ${types}`}`, ...fieldsOf(one, `${path}.${name}`)];
    }),
    ...fieldsOf(items, `${path}[]`),
    ...fieldsOf(additionalProperties, `${path}.*`),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((one) => fieldsOf(one, path)),
  ];
}

function typesOf(node: unknown): string[] {
  const { type = [], anyOf = [], oneOf = [] } = Object(node);
  return [...new Set<string>([type, [...anyOf, ...oneOf].flatMap(typesOf)].flat(2))];
}

type Command = Awaited<ReturnType<typeof describedProgram>>;

/** A command with its other names, arguments and options, and all commands below it. */
function spellingsOf(command: Command, path: string): string[] {
  return [
    path,
    ...command.aliases().map((alias) => `${path} alias ${alias}`),
    ...command.registeredArguments.map(
      (argument) => `${path} ${argument.name()}${argument.variadic ? '...' : ''}`,
    ),
    ...command.options.map(({ long, short, defaultValue, required, optional }) => {
      const value = required ? ' VALUE' : optional ? ' [VALUE]' : '';
      return `${path} ${long ?? short}${value}${defaultValue === undefined ? '' : ` = ${defaultValue}`}`;
    }),
    ...command.commands.flatMap((one) => spellingsOf(one, `${path} ${one.name()}`)),
  ];
}

test('commands, their arguments and options', async (context) => {
  const lines = spellingsOf(await describedProgram(), 'errand');
  expect(lines.length).toBeGreaterThan(500);
  expectStable(context, 'commands.txt', textOf(lines));
});

test('fields of everything that is printed', async (context) => {
  const { $defs } = outputSchemas(await printingCommands());
  const lines = Object.entries(Object($defs)).flatMap(([name, schema]) => [name, ...fieldsOf(schema, name)]);
  expect(lines.length).toBeGreaterThan(1000);
  expectStable(context, 'outputs.txt', textOf(lines));
});

test('tools for agents, with their fields', async (context) => {
  const workspace = makeWorkspace();
  try {
    const clientInfo = { name: 'names', version: '1' };
    const asked = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
      },
      { method: 'notifications/initialized' },
      ...Object.keys(toolNames).map((tool) => ({
        id: tool,
        method: 'tools/call',
        params: { name: 'describe_operation', arguments: { tool } },
      })),
      { id: 2, method: 'tools/list', params: {} },
    ].map((line) => JSON.stringify({ jsonrpc: '2.0', ...line }));
    const { stdout, stderr } = await shell(workspace, 'errand mcp', { stdin: `${asked.join('\n')}\n` });
    const answers = new Map(
      stdout
        .trim()
        .split('\n')
        .map((text) => [JSON.parse(text).id, JSON.parse(text).result] as const),
    );
    const { tools } = answers.get(2) ?? expect.fail(stderr);
    const lines = Array.from(Object.values<{ name: string; inputSchema: object }>(tools)).flatMap(
      ({ name, inputSchema }) => [
        name,
        ...fieldsOf(inputSchema, `${name} <`),
        ...fieldsOf(answers.get(name).structuredContent.response, `${name} >`),
      ],
    );
    expectStable(context, 'tools.txt', textOf(lines));
  } finally {
    workspace.remove();
  }
});

/** The sources, without those that a build alone runs. */
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(root, 'src', name), 'utf8'));

const matches = (pattern: RegExp): string[] =>
  [...new Set(sources.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name)))].sort();

/** What a policy may say at a place, as the message for an unknown key lists it. */
function policyKeys(place: string): string[] {
  try {
    readPolicy('policy.yaml', `version: 1\n${place}`);
  } catch (error) {
    const [, where = '', keys = ''] = / is not known( in [\w[\]]+)?; known: (.+)/.exec(String(error)) ?? [];
    return keys.split(', ').map((key) => `${key}${where}`);
  }
  return expect.fail(`a policy may say ${place}`);
}

test('names and numbers of the program itself', (context) => {
  const env = /\b(?:environment|env)\.([A-Z][A-Z0-9_]+)\b/g;
  const own = /\b(ERRAND_[A-Z_]+)\b/g;
  const taken = sources.flatMap((text) =>
    [...text.matchAll(/\{([^{}]*)\}(?:: Environment| = (?:process\.env|environment)\b)/g)].flatMap(
      ([, list = '']) => [...list.matchAll(/\b[A-Z][A-Z0-9_]+\b/g)],
    ),
  );
  const list = (title: string, names: Iterable<string>): string[] =>
    [...names].map((name) => `${title} ${name}`);
  const lines = [
    ...list(
      'environment',
      [...new Set([...matches(env), ...matches(own), ...taken.map(([name]) => name)])].sort(),
    ),
    ...list(
      'exit',
      Object.entries(exitCodes).map(([name, code]) => `${name} ${code}`),
    ),
    ...list('audit', Object.keys(auditKinds)),
    ...list('config', storedFields),
    ...list('profile', profileFields),
    ...list('preference', Object.keys(preferences)),
    ...list(
      'event',
      Object.values(events).flatMap((one) => (typeof one === 'string' ? one : Object.keys(one))),
    ),
    ...list('event name', events.webhookEventNames),
    ...list(
      'policy',
      ['unknown: 1', 'limits: { unknown: 1 }', 'per: [{ unknown: 1 }]', 'approve: { unknown: 1 }'].flatMap(
        policyKeys,
      ),
    ),
    ...list('error of the service', Object.keys(errorCodes)),
    ...list('error type', Object.keys(errorTypes)),
    ...list('error code', matches(/\bcode: '([a-z][a-z0-9_]+)'/g)),
    ...list(
      'control',
      Object.values(control).flatMap((one) => (typeof one === 'string' ? one : [])),
    ),
    ...list('trigger', Object.keys(control.sandboxTriggers)),
    ...Object.entries(operations).map(
      ([name, { method, path, surface }]) => `operation ${name} ${surface} ${method} ${path}`,
    ),
  ];
  expectStable(context, 'names.txt', textOf(lines));
});

test('what is gone is told with the page that promised it; what came is a line to write down', () => {
  const before = 'exit usage 2\norder.total: integer\n';
  expect(
    goneFrom(before, 'exit policy 11\norder.total: integer\norder.fee: integer\nexit usage 2\n'),
  ).toEqual([]);
  expect(goneFrom(before, 'exit usage 2\norder.total: string\n')).toEqual(['order.total: integer']);
});
