import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

export interface MarkdownDocument {
  readonly name: string;
  readonly file: URL;
  readonly text: string;
}

const read = (name: string): MarkdownDocument => {
  const file = new URL(name, root);
  return { name, file, text: readFileSync(file, 'utf8') };
};

export const readme = read('README.md');

/** Every page under `docs`. */
export const pages: readonly MarkdownDocument[] = readdirSync(new URL('docs/', root))
  .filter((name) => name.endsWith('.md'))
  .map((name) => read(`docs/${name}`));

/** The code blocks of one language. @param language the fence's info string; '' for none. */
export const blocksOf = ({ text }: MarkdownDocument, language: string): string[] =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, marked, block = '']) =>
    marked === language ? [block] : [],
  );
