import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'vitest';

/** In CI a missing program fails the tests; elsewhere they are skipped with a note. */
const mustRun = process.env.ERRAND_CI === '1';
const needed = ['hledger', 'bean-check'];
const folders = (process.env.PATH ?? '').split(delimiter);
const missing = needed.filter((name) => !folders.some((folder) => existsSync(join(folder, name))));

/** Tests that need accounting programs: Debian's `hledger` and `beancount`. */
export function describeWithBookkeepers(name: string, tests: () => void): void {
  const isPossible = missing.length === 0 || mustRun;
  const title = isPossible
    ? name
    : `${name} (skipped: no ${missing.join(', ')}; apt-get install hledger beancount)`;
  describe.skipIf(!isPossible)(title, tests);
}

export interface ReadTransaction {
  readonly id: string;
  readonly description: string;
  /** Amounts in major units as written, by account. */
  readonly amounts: Readonly<Record<string, string>>;
}

/** Ignore the developer's own settings. */
const run = (command: string, args: readonly string[]): string =>
  execFileSync(command, args, {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Parses a file with hledger, after its strict check. @throws if hledger rejects the file. */
export function readByHledger(file: string): ReadTransaction[] {
  run('hledger', ['-f', file, 'check', '--strict']);
  const printed: {
    tdescription: string;
    ttags: [string, string][];
    tpostings: { paccount: string; pamount: { aquantity: { floatingPoint: number } }[] }[];
  }[] = JSON.parse(run('hledger', ['-f', file, 'print', '-O', 'json']));
  return printed.map(({ tdescription, ttags, tpostings }) => ({
    id: ttags.find(([name]) => name === 'errand-id')?.[1] ?? '',
    description: tdescription,
    amounts: Object.fromEntries(
      tpostings.map(({ paccount, pamount }) => [
        paccount,
        pamount.map(({ aquantity }) => aquantity.floatingPoint.toFixed(2)).join(' '),
      ]),
    ),
  }));
}

/** The interpreter that Debian's beancount is installed for. */
const python = (script: string, file: string): unknown =>
  JSON.parse(run('/usr/bin/python3', ['-c', script, file]));

/** Parses a file with beancount, after `bean-check`. @throws if beancount rejects the file. */
export function readByBeancount(file: string): ReadTransaction[] {
  run('bean-check', [file]);
  const script = `import json, sys
from beancount import loader
from beancount.core.data import Transaction
entries, errors, _ = loader.load_file(sys.argv[1])
assert not errors, errors
print(json.dumps([{'id': e.meta['errand-id'], 'description': (e.payee or '') + ' | ' + e.narration,
  'amounts': {p.account: str(p.units.number) for p in e.postings}} for e in entries if isinstance(e, Transaction)]))`;
  return python(script, file) as ReadTransaction[];
}

export interface ReadStatement {
  readonly transactions: readonly { readonly [name: string]: string }[];
  readonly balance: string;
  readonly account: string;
}

/** Parses a statement with a strict XML parser. @throws if it is not well-formed. */
export function readStatement(file: string): ReadStatement {
  const script = `import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == 'OFX'
assert [child.tag for child in root.find('.//STMTRS')] == ['CURDEF', 'BANKACCTFROM', 'BANKTRANLIST', 'LEDGERBAL']
found = [{part.tag: part.text or '' for part in one} for one in root.iter('STMTTRN')]
assert len(found) == len(root.find('.//BANKTRANLIST')) - 2
print(json.dumps({'transactions': found, 'balance': root.find('.//BALAMT').text, 'account': root.find('.//ACCTID').text}))`;
  return python(script, file) as ReadStatement;
}
