import { isBuiltin } from 'node:module';

const importing = /^import (?:\{([^}]*)\}|(?:\* as )?([\w$]+)) from "(node:[\w/]+)";$/gm;

/**
 * What requires Node's own modules, from wherever it lies: a user's bundle in CommonJS has no `import.meta.url`.
 * Node 22 before 22.3 has no `getBuiltinModule`.
 */
const anywhere = 'globalThis.process.execPath';
const taking =
  'import { createRequire as requireHere } from "node:module"; ' +
  `const takeBuiltin = globalThis.process.getBuiltinModule ?? requireHere(${anywhere}); `;

/** Of the build's own runtime: with what libraries in CommonJS require, and what. */
const made = 'createRequire(import.meta.url)';
const required = /\b__require\("([^"]+)"\)/g;

/**
 * Asks for Node's own modules in place of importing them. An import reads every property that a module has, and some of
 * them load more: with `node:http` comes all of Node's fetch, which is 30 ms of a start on Node 24.
 */
export const builtinsTaken = {
  name: 'builtins-taken',
  renderChunk(code) {
    for (const [, module] of code.matchAll(required))
      if (!isBuiltin(module))
        throw new Error(`a bundle would not find ${module}, which is required at run time`);
    let takes = false;
    const taken = code
      .replaceAll(made, `createRequire(${anywhere})`)
      .replace(importing, (whole, names, all, module) => {
        // The build itself imports it into each chunk that needs a `require`.
        if (module === 'node:module') return whole;
        takes = true;
        return `const ${all ?? `{${names.replaceAll(' as ', ': ')}}`} = takeBuiltin("${module}");`;
      });
    // In the first line, so that a source map's lines stay what they are.
    return { code: takes ? `${taking}${taken}` : taken, map: null };
  },
};

/** Node's own modules that are there when it has started. */
const present = new Set(['buffer', 'events', 'fs', 'path', 'process', 'url', 'util']);
const requiring = /^let (node_\w+) = require\("node:([\w/]+)"\);$/gm;
/** Where the rest is CommonJS, an import alone would start Node's loader of modules. */
const importingLate = /\bimport\(("node:[\w/]+")\)/g;

/**
 * Loads each of Node's own modules where it is first used. What a file holds for other commands costs a start nothing so:
 * with `node:crypto` alone come 20 modules, which is 4 ms on Node 24.
 */
export const builtinsLazy = {
  name: 'builtins-lazy',
  renderChunk(code, _chunk, { format }) {
    if (format !== 'cjs') return;
    // A default or namespace import is assigned again (`node_x = __toESM(node_x)`); that one stays as it is.
    const found = [...code.matchAll(requiring)].filter(
      ([, name, module]) => !present.has(module) && !code.includes(`\n${name} = `),
    );
    let lazy = code.replace(importingLate, 'Promise.resolve(require($1))');
    for (const [line, name, module] of found)
      lazy = lazy
        .replace(line, '')
        .replace(new RegExp(`\\b${name}\\b`, 'g'), `(${name}())`)
        .concat(
          `\nvar ${name}_loaded; function ${name}() { return ${name}_loaded ??= require("node:${module}"); }`,
        );
    return { code: lazy, map: null };
  },
};
