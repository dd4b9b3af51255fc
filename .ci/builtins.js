const importing = /^import (?:\{([^}]*)\}|(?:\* as )?([\w$]+)) from "(node:[\w/]+)";$/gm;

/**
 * Takes Node's own modules as they are. An import of one reads every property that it has, and some of them load more:
 * with `node:http` comes all of Node's fetch, which is 30 ms of a start on Node 24.
 */
export const builtinsTaken = {
  name: 'builtins-taken',
  renderChunk: (code) => ({
    code: code.replace(importing, (whole, names, all, module) => {
      // The build itself imports it into each chunk that needs a `require`.
      if (module === 'node:module') return whole;
      // A module may name what it imports `process`.
      return `const ${all ?? `{${names.replaceAll(' as ', ': ')}}`} = globalThis.process.getBuiltinModule("${module}");`;
    }),
    map: null,
  }),
};

/** Node's own modules that are there when it has started. */
const present = new Set(['buffer', 'events', 'fs', 'module', 'path', 'process', 'url', 'util']);
const requiring = /^let (node_\w+) = require\("node:([\w/]+)"\);$/gm;

/**
 * Loads each of Node's own modules where it is first used. What a file holds for other commands costs a start nothing so:
 * with `node:crypto` alone come 20 modules, which is 4 ms on Node 24.
 */
export const builtinsLazy = {
  name: 'builtins-lazy',
  renderChunk(code) {
    // One that is taken as a whole is assigned once more.
    const found = [...code.matchAll(requiring)].filter(
      ([, name, module]) => !present.has(module) && !code.includes(`\n${name} = `),
    );
    let lazy = code;
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
