// Names every package whose code the bundle holds, with the text of its licence.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';

/** What a package carries within itself, with licences that its own files do not hold. */
const within = [
  {
    module: /[\\/]undici[\\/]lib[\\/]llhttp[\\/].*wasm/,
    name: 'llhttp (in undici)',
    licence: 'MIT',
    source: 'https://github.com/nodejs/llhttp',
    text: new URL('./llhttp-licence.txt', import.meta.url),
  },
];

/** Written by the bundler into what it makes. */
const runtime = /^\0?rolldown[\\/]runtime/;

/** Licences whose wording is the same for all, for packages that name one and hold no text. */
const wordings = { Unlicense: [new URL('./unlicense.txt', import.meta.url)] };

/** Licences that packages have in their repositories and do not ship, by the names of the packages. */
const unshipped = { saxes: [new URL('./saxes-licence.txt', import.meta.url)] };

/** A plugin that hears what each bundle holds, and writes the notices of all of them. */
export function createNotices() {
  const modules = new Set();
  return {
    plugin: {
      name: 'notices',
      generateBundle(_, bundle) {
        for (const chunk of Object.values(bundle))
          if (chunk.type === 'chunk') for (const id of Object.keys(chunk.modules)) modules.add(id);
      },
    },
    write: (file) => writeFileSync(file, noticesOf([...modules])),
  };
}

function noticesOf(modules) {
  const folders = new Set(modules.map(packageFolder).filter(Boolean));
  const packages = [
    // A package may lie in two folders.
    ...new Map([...folders].map(noticeOf).map((notice) => [notice.name, notice])).values(),
    ...within
      .filter(({ module }) => modules.some((id) => module.test(id)))
      .map((part) => ({ ...part, text: readFileSync(part.text, 'utf8').trim() })),
  ];
  const sorted = packages.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const parts = [...new Set(sorted.map(({ text }) => text))].map((text) => {
    const those = sorted.filter((one) => one.text === text);
    return `${those.map(({ name, licence, source }) => `${name} | ${licence} | ${source}`).join('\n')}\n\n${text}\n`;
  });
  const beginning =
    'Code of these packages is part of this program, bundled and minified. Their sources are at the addresses beside them.\n';
  return [beginning, ...parts].join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of the package that a module belongs to; undefined where it is our own. */
function packageFolder(id) {
  if (runtime.test(id)) return resolve('node_modules/rolldown');
  if (!id.includes(`${sep}node_modules${sep}`)) return undefined;
  let folder = dirname(id.replace(/^\0/, ''));
  // A folder may have a package.json of its own that only says how its modules are written.
  while (!manifestOf(folder)?.version) folder = dirname(folder);
  return folder;
}

function manifestOf(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

function noticeOf(folder) {
  const { name, version, license, repository, homepage } = manifestOf(folder);
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
  const paths =
    files.length > 0 ? files.map((file) => join(folder, file)) : (unshipped[name] ?? wordings[license] ?? []);
  if (paths.length === 0 || !license) throw new Error(`${name} ${version} has no licence that could be told`);
  const text = paths.map((path) => readFileSync(path, 'utf8').trim()).join('\n\n');
  return { name: `${name} ${version}`, licence: license, source: sourceOf(repository) ?? homepage, text };
}

/** Where the source is: MPL-2.0 wants it told. */
function sourceOf(repository) {
  const url = typeof repository === 'string' ? repository : repository?.url;
  if (url === undefined) return undefined;
  return url
    .replace(/^git\+/, '')
    .replace(/^git:\/\//, 'https://')
    .replace(/^git@github\.com:/, 'https://github.com/')
    .replace(/^(?:github:)?([\w.-]+\/[\w.-]+)$/, 'https://github.com/$1')
    .replace(/\.git$/, '');
}
