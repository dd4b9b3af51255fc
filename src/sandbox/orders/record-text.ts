import type { OrderRecord } from './lifecycle/index.ts';

/**
 * Loads the shapes. The function given back writes a record as it is kept and shown from then on, held against the
 * contract here and nowhere else: lists are composed of these texts. It throws for one that breaks the contract.
 */
export function loadRecordText(): Promise<RecordText> {
  loading ??= load();
  return loading;
}

type RecordText = (record: OrderRecord) => string;

/** Each order asks for it, and the loader takes its time. */
let loading: Promise<RecordText> | undefined;

async function load(): Promise<RecordText> {
  const { checkShape } = await import('../../contract/schemas/check.ts');
  return (record) => {
    const { issues } = checkShape('OrderResponse', record, 'response');
    if (issues) throw new Error(`an order became none: ${JSON.stringify(issues.slice(0, 5))}`);
    return JSON.stringify(record);
  };
}
