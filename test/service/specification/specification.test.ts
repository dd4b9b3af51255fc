import { describe, expect, test } from 'vitest';
import { errorCodes } from '../../../src/api/error-codes.ts';
import { errorTypes } from '../../../src/api/error-types.ts';
import { TestService } from '../../support/service.ts';
import { contractNames } from './contract-names.ts';
import type { Rows } from './proof.ts';
import { errorCodeRows, errorTypeRows } from './rows/errors.ts';
import { tables } from './tables.ts';

/** Results of the rows tested so far. */
const outcomes = new Map<string, 'holds' | 'FAILS'>();

describe.each(tables)('$title', ({ proofs }) => {
  test.each(Object.entries(proofs))('%s', async (id, { prove, start }) => {
    outcomes.set(id, 'FAILS');
    const service = await TestService.start(start);
    try {
      await prove(service);
      expect(service.bugs).toEqual([]);
    } finally {
      await service.stop();
    }
    outcomes.set(id, 'holds');
  });
});

const ids = tables.flatMap(({ rows }) => Object.keys(rows));

describe('the list of rows', () => {
  test('names each row once, with a test, and has no test without a row', () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const { title, rows, proofs } of tables)
      expect(Object.keys(proofs).toSorted(), title).toEqual(Object.keys(rows).toSorted());
    console.log(printed());
  });

  test.each(Object.entries(contractNames))('has every one of the contract’s %s', (_, names) => {
    expect(names.filter((name) => !ids.includes(name))).toEqual([]);
  });

  test('gives each error code the status, and each error_type the group, that the contract gives it', () => {
    for (const [code, { status }] of Object.entries(errorCodes))
      expect(rowOf(errorCodeRows, `code ${code}`), code).toMatch(new RegExp(`^${status}`));
    for (const [type, { group }] of Object.entries(errorTypes))
      expect(rowOf(errorTypeRows, `error_type ${type}`)).toBe(group);
  });
});

const rowOf = (rows: Rows, id: string): string | undefined => rows[id];

/** The table: row, its text, what its proof shows, and the result in this run. */
function printed(): string {
  const lines = tables.flatMap(({ title, rows, proofs }) => [
    '',
    title,
    ...Object.entries(rows).map(([id, says]) =>
      [outcomes.get(id) ?? 'not run', id, says, proofs[id]?.shows ?? 'NO TEST'].join(' | '),
    ),
  ]);
  const held = ids.filter((id) => outcomes.get(id) === 'holds').length;
  return [...lines, '', `${held} of ${ids.length} rows hold`].join('\n');
}
