import * as enums from '../../api/enums.ts';
import { errorCodes } from '../../api/error-codes.ts';
import { errorTypes } from '../../api/error-types.ts';
import { webhookEvents } from '../../api/events.ts';
import { limits } from '../../api/limits.ts';
import type { Output } from '../../api/outputs/index.ts';
import type { Column } from '../../format/result.ts';

/** A part of the contract that is a plain table. */
export interface Table {
  readonly summary: string;
  readonly columns: readonly Column[];
  /** Field that names a row. */
  readonly id: string;
  readonly rows: readonly Output<'ContractRow'>[];
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly default?: number;
  readonly value?: number;
}

const nameColumn: Column = { name: 'name', path: 'name', weight: 9 };

const bounds = (bound: number | Bounds): Bounds =>
  typeof bound === 'number' ? { value: bound } : { ...bound };

const errorRows: Table['rows'] = [
  ...Object.entries(errorCodes).map(([code, row]) => ({ code, kind: 'code' as const, ...row })),
  ...Object.entries(errorTypes).map(([code, { group, hint, ...row }]) => ({
    code,
    kind: 'error_type' as const,
    group,
    ...('relaxedBy' in row && { relaxed_by: row.relaxedBy }),
    hint,
    ...('observed' in row && { observed: true }),
  })),
];

/** The closed lists, bounds, events and errors of the contract, each by the name it is requested by. */
export const tables = {
  enums: {
    summary: 'every closed list of values',
    id: 'name',
    columns: [nameColumn, { name: 'values', path: 'values', weight: 8 }],
    rows: Object.entries(enums).map(([name, values]) => ({ name, values })),
  },
  limits: {
    summary: 'every bound; money in cents, time in seconds',
    id: 'name',
    columns: [
      nameColumn,
      ...['min', 'max', 'default', 'value'].map((name) => ({ name, path: name, kind: 'count' as const })),
    ],
    rows: Object.entries(limits).map(([name, bound]) => ({ name, ...bounds(bound) })),
  },
  events: {
    summary: 'every webhook event',
    id: 'name',
    columns: [nameColumn, { name: 'sent when', path: 'sent_when', weight: 8 }],
    rows: Object.entries(webhookEvents).map(([name, when]) => ({ name, sent_when: when })),
  },
  errors: {
    summary: 'every error code and error_type, with status and what to do',
    id: 'code',
    columns: [
      { name: 'code', path: 'code', weight: 9 },
      { name: 'kind', path: 'kind', weight: 5 },
      { name: 'status', path: 'status', kind: 'count', weight: 7 },
      { name: 'hint', path: 'hint', weight: 8, isProse: true },
      { name: 'group', path: 'group', weight: 4 },
      { name: 'relaxed by', path: 'relaxed_by', weight: 3 },
      { name: 'observed', path: 'observed', kind: 'flag', weight: 2 },
    ],
    rows: errorRows,
  },
} as const satisfies Record<string, Table>;
