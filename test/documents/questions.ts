import { readdirSync, readFileSync } from 'node:fs';
import { parseAst } from 'vitest/node';

/** Reads from the sources the text of each question that a terminal can show. */

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

function* walk(node: Node, above: readonly Node[] = []): Generator<readonly [Node, readonly Node[]]> {
  yield [node, above];
  for (const child of childrenOf(node)) yield* walk(child, [...above, node]);
}

const src = new URL('../../src/', import.meta.url);

/** All sources but the prompts themselves, and what hands questions on to them. */
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/^(?:cli\/(?:prompt\/|context)|run\/)/.test(name))
  .map((name) => ({ name, text: readFileSync(new URL(name, src), 'utf8') }))
  .filter(({ text }) => /\b(?:ask[A-Z]\w{1,20}|confirm|agree|question)\b/.test(text))
  .map(({ name, text }) => ({ name, nodes: [...walk(parseAst(text, { lang: 'ts' }) as unknown as Node)] }));

type File = (typeof files)[number];

const asking = new Set(['askText', 'askChoice', 'askRow', 'askRows', 'confirm', 'askReview', 'askSecret']);

const member = (node: Node, name: string): Node | undefined => {
  const value = node[name];
  return isNode(value) ? value : undefined;
};
const nameOf = (node: Node | undefined): string => (typeof node?.name === 'string' ? node.name : '');
const listOf = (node: Node | undefined, name: string): Node[] => [node?.[name]].flat().filter(isNode);

/** The text of each question, in which … stands for a value. */
export function questionTexts(): string[] {
  const texts = files.flatMap((file) =>
    file.nodes.flatMap(([node, above]) => {
      const question = questionOf(node);
      return question ? textsOf(question, file, above) : [];
    }),
  );
  return [...new Set(texts.map((text) => text.replace(/…+/g, '…')))].sort();
}

/** What a call asks: the text is its first argument, or stands behind the context. */
function questionOf(node: Node): Node | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const callee = member(node, 'callee');
  if (callee?.type !== 'MemberExpression' || !asking.has(nameOf(member(callee, 'property'))))
    return undefined;
  const on = member(callee, 'object');
  const isPrompt = ['context', 'prompt'].includes(nameOf(on)) || on?.type === 'AwaitExpression';
  const given = listOf(node, 'arguments').filter((one) => nameOf(one) !== 'context');
  return isPrompt ? given[0] : undefined;
}

const unknownValue = '…';

/** @throws Error for an expression whose text cannot be read off the sources. */
function textsOf(node: Node, file: File, above: readonly Node[]): string[] {
  const texts = readable(node, file, above);
  if (texts.length === 0 || texts.every((text) => text === unknownValue))
    throw new Error(
      `${file.name}: the text of a question cannot be read: ${JSON.stringify(node).slice(0, 200)}`,
    );
  return texts;
}

function readable(node: Node, file: File, above: readonly Node[]): string[] {
  const inner = (name: string): string[] => {
    const child = member(node, name);
    return child ? readable(child, file, above) : [];
  };
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [node.value] : [unknownValue];
    case 'ConditionalExpression':
      return [...inner('consequent'), ...inner('alternate')];
    case 'TemplateLiteral': {
      const values = listOf(node, 'expressions').map((one) => readable(one, file, above));
      return listOf(node, 'quasis').reduce<string[]>(
        (before, { value }, index) =>
          before.flatMap((text) =>
            (values[index] ?? ['']).map((next) => `${text}${Object(value).cooked}${next}`),
          ),
        [''],
      );
    }
    case 'CallExpression':
      return returned(nameOf(member(node, 'callee')));
    case 'Identifier':
      return named(node, file, above);
    default:
      return [unknownValue];
  }
}

/** What a function of one expression returns. */
function returned(name: string): string[] {
  for (const file of files)
    for (const [node, above] of file.nodes) {
      const body = member(member(node, 'init') ?? node, 'body');
      if (node.type !== 'VariableDeclarator' || nameOf(member(node, 'id')) !== name || !body) continue;
      if (body.type !== 'BlockStatement') return readable(body, file, above);
    }
  return [unknownValue];
}

/** What a name stands for: a constant of the file, a member of an object, or what callers hand in. */
function named(use: Node, file: File, above: readonly Node[]): string[] {
  const name = nameOf(use);
  const declared = file.nodes.findLast(
    ([node]) =>
      node.type === 'VariableDeclarator' &&
      nameOf(member(node, 'id')) === name &&
      Number(node.start) < Number(use.start),
  );
  const init = declared && member(declared[0], 'init');
  if (init) return readable(init, file, declared[1]);
  const handed = fromCallers(name, above);
  if (handed.length > 0) return handed;
  if (name !== 'question' && name !== 'message') return [unknownValue];
  return files
    .filter((one) => name === 'question' || one === file)
    .flatMap((one) =>
      one.nodes.flatMap(([node, around]) => {
        const value = member(node, 'value');
        const isText = node.type === 'Property' && nameOf(member(node, 'key')) === name && value;
        return isText && value.type !== 'Identifier' ? readable(value, one, around) : [];
      }),
    )
    .filter((text) => text !== unknownValue);
}

/** What the callers of the function around give for a parameter. */
function fromCallers(name: string, above: readonly Node[]): string[] {
  const around = above.findLast(({ type }) => type === 'FunctionDeclaration');
  const at = listOf(around, 'params').findIndex((one) => nameOf(one) === name);
  if (at < 0) return [];
  return files.flatMap((file) =>
    file.nodes.flatMap(([node, outer]) => {
      const isCall =
        node.type === 'CallExpression' &&
        nameOf(member(node, 'callee')) === nameOf(member(around ?? node, 'id'));
      const given = isCall ? listOf(node, 'arguments')[at] : undefined;
      return given ? readable(given, file, outer).filter((text) => text !== unknownValue) : [];
    }),
  );
}
