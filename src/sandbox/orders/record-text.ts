import type { OrderRecord } from './lifecycle/index.ts';

/**
 * Loads the shapes. The function given back writes a record as it is kept and shown from then on, held against the
 * contract here and nowhere else: lists are composed of these texts. It throws for one that breaks the contract.
 */
export function loadRecordText(): Promise<RecordText> {
  loading ??= load();
  return loading;
}

/** @param isKept the record was in the store before: a newer version may have given it fields that this one does not know. */
type RecordText = (record: OrderRecord, isKept?: 'kept') => string;

/** Each order asks for it, and the loader takes its time. */
let loading: Promise<RecordText> | undefined;

async function load(): Promise<RecordText> {
  const { checkShape } = await import('../../api/schemas/check.ts');
  return (record, isKept) => {
    const { issues: found = [] } = checkShape('OrderResponse', record, 'response');
    const issues = isKept ? found.filter(({ type }) => type !== 'extra_forbidden') : found;
    if (issues.length > 0) throw new Error(`an order became none: ${JSON.stringify(issues.slice(0, 5))}`);
    return JSON.stringify(record);
  };
}
