// Counts what a process asks of SQLite, what it parses as JSON and what it hashes, and writes that into the file that WORK names.
const crypto = require('node:crypto');
const { writeFileSync } = require('node:fs');

const work = { statements: 0, rows: 0, parsed: 0, hashed: 0 };

/** The methods of a native statement cannot be replaced. */
const counted = (statement) => ({
  all(...values) {
    const found = statement.all(...values);
    work.statements += 1;
    work.rows += found.length;
    return found;
  },
  get(...values) {
    const found = statement.get(...values);
    work.statements += 1;
    work.rows += found === undefined ? 0 : 1;
    return found;
  },
  run(...values) {
    work.statements += 1;
    return statement.run(...values);
  },
  *iterate(...values) {
    work.statements += 1;
    for (const row of statement.iterate(...values)) {
      work.rows += 1;
      yield row;
    }
  },
});

const withCounts = ({ DatabaseSync, ...more }) => ({
  ...more,
  DatabaseSync: class extends DatabaseSync {
    prepare(...given) {
      return counted(super.prepare(...given));
    }
  },
});

// Node's own SQLite, or the packaged binary as it is loaded.
const { dlopen, getBuiltinModule } = process;
process.getBuiltinModule &&= (name) => {
  const found = getBuiltinModule(name);
  return name === 'node:sqlite' && found ? withCounts(found) : found;
};
process.dlopen = (module, ...more) => {
  dlopen.call(process, module, ...more);
  if (module.exports.DatabaseSync) module.exports = withCounts(module.exports);
};

const { parse } = JSON;
JSON.parse = (text, ...more) => {
  work.parsed += String(text).length;
  return parse(text, ...more);
};

const { hash } = crypto;
crypto.hash = (algorithm, data, ...more) => {
  work.hashed += data.length;
  return hash(algorithm, data, ...more);
};

process.on('exit', () => writeFileSync(process.env.WORK, JSON.stringify(work)));
