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
