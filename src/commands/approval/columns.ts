import type { Column } from '../../format/result.ts';
import type { Argument } from '../../run/option.ts';
import { briefOf, type ShownApproval, summaryLines } from '../../spending/approval/shown.ts';

export const idArgument = {
  name: 'id',
  description: 'id of the approval, or its beginning',
  names: 'approvals',
  required: true,
} as const satisfies Argument;

export const approvalColumns: readonly Column<ShownApproval>[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'approvals', weight: 10 },
  { name: 'state', path: 'state', kind: 'status', weight: 10 },
  { name: 'total', path: 'total_cents', kind: 'money', weight: 10 },
  {
    name: 'what',
    path: 'summary',
    weight: 9,
    minWidth: 16,
    value: ({ summary }) => briefOf(summary),
  },
  {
    name: 'of',
    path: 'subject',
    weight: 8,
    minWidth: 15,
    value: ({ subject, override }) => `${subject}${override === null ? '' : ' override'}`,
  },
  { name: 'asked by', path: 'asked_by', weight: 5 },
  { name: 'until', path: 'expires_at', kind: 'time', isLocal: true, weight: 8 },
  { name: 'decided by', path: 'decided_by', weight: 3 },
  { name: 'profile', path: 'profile', weight: 2 },
];

/** Columns for a single approval. */
export const recordColumns: readonly Column<ShownApproval>[] = [
  { name: 'id', path: 'id' },
  { name: 'state', path: 'state', kind: 'status' },
  { name: 'of', path: 'subject' },
  { name: 'total', path: 'total_cents', kind: 'money' },
  { name: 'what', path: 'summary', value: ({ summary }) => summaryLines(Object(summary)).join('; ') },
  { name: 'overrules the policy', path: 'override' },
  { name: 'rules', path: 'rules', value: ({ rules }) => (Array.isArray(rules) ? rules.join(', ') : rules) },
  { name: 'service', path: 'service' },
  { name: 'profile', path: 'profile' },
  { name: 'asked by', path: 'asked_by' },
  { name: 'asked', path: 'asked_at', kind: 'time', isLocal: true },
  { name: 'until', path: 'expires_at', kind: 'time', isLocal: true },
  { name: 'decided by', path: 'decided_by' },
  { name: 'decided', path: 'decided_at', kind: 'time', isLocal: true },
  {
    name: 'used for',
    path: 'used_for',
    value: ({ used_for: uses }) =>
      Array.isArray(uses) ? uses.map((use) => Object(use).order_id ?? Object(use).key).join(', ') : uses,
  },
];
