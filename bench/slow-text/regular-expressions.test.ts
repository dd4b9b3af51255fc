import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkSync } from 'recheck';
import { parseSync } from 'rolldown/utils';
import { expect, test } from 'vitest';
import { growth, linear } from './growth.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));

interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Every node of a syntax tree. */
function* nodesOf(value: unknown): Generator<Node> {
  if (!isNode(value)) return;
  yield value;
  for (const inner of Object.values(value)) yield* nodesOf(inner);
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
  .map((name) => ({
    name,
    nodes: [...nodesOf(parseSync(name, readFileSync(join(source, name), 'utf8')).program)],
  }));

const literals: Expression[] = files.flatMap(({ name, nodes }) =>
  nodes.flatMap(({ type, regex }) =>
    type === 'Literal' && isNode(regex)
      ? [{ place: name, source: String(regex.pattern), flags: String(regex.flags) }]
      : [],
  ),
);

/** Collects regular expressions constructed when a module loads. */
async function made(): Promise<Expression[]> {
  const found: Expression[] = [];
  const makers = files.filter(({ nodes }) =>
    nodes.some(({ type, callee }) => type === 'NewExpression' && isNode(callee) && callee.name === 'RegExp'),
  );
  const { RegExp: plain } = globalThis;
  let place = '';
  const note = (made: RegExp): RegExp => {
    found.push({ place, source: made.source, flags: made.flags });
    return made;
  };
  globalThis.RegExp = new Proxy(plain, {
    construct: (_, [pattern, flags]) => note(new plain(pattern, flags)),
  });
  try {
    for (const { name } of makers) {
      place = name;
      await import(join(source, name));
    }
  } finally {
    globalThis.RegExp = plain;
  }
  return found;
}

/** Bounded quantifiers cost at most a constant factor, so only unbounded ones need checking. */
const isUnbounded = ({ source }: Expression): boolean =>
  /[*+]|\{\d+,\}/.test(source.replace(/\\./gs, '').replace(/\[[^\]]*\]/g, ''));

/** Timeout long enough for a machine without the tool's native binary, ms. */
const patienceMs = 30_000;

/** Explains why an expression is slow; empty if it is linear. */
async function whySlow({ place, source, flags }: Expression): Promise<string[]> {
  const found = checkSync(source, flags, { timeout: patienceMs });
  if (found.status === 'safe') return [];
  // The tool's fuzzer only guesses, using its own engine; verify in the real one.
  if (found.status === 'vulnerable' && found.checker === 'fuzz') {
    const { pumps, suffix } = found.attack;
    const attack = (size: number): string =>
      pumps.map(({ prefix, pump }) => prefix + pump.repeat(size)).join('') + suffix;
    const replace = (size: number): string => attack(size).replace(new RegExp(source, flags), '');
    if ((await growth(replace, 3000)) < linear) return [];
  }
  const why =
    found.status === 'vulnerable' ? `${found.complexity.summary}: ${found.attack.pattern}` : found.error.kind;
  return [`${place}: /${source}/${flags} (${why})`];
}

test('no expression of the sources takes more time than in proportion to the text', async () => {
  const expressions = [...literals, ...(await made())];
  expect(expressions.length).toBeGreaterThan(200);
  const distinct = new Map(expressions.map((it) => [`/${it.source}/${it.flags}`, it]));
  const slow: string[] = [];
  for (const one of [...distinct.values()].filter(isUnbounded)) slow.push(...(await whySlow(one)));
  expect(slow).toEqual([]);
});

test.each(['/+$', '(a+)+b', '\\s*x?\\s*$', '^(a|b|ab)*c$', '(?:^|_)(?:a|by_\\w{2,})$'])(
  '%s would be found',
  async (slow) => {
    const expression = { place: 'here', source: slow, flags: '' };
    expect([isUnbounded(expression), await whySlow(expression)]).toEqual([
      true,
      [expect.stringMatching(/polynomial|exponential/)],
    ]);
  },
);
