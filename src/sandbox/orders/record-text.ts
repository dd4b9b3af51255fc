import { loadOnce } from '../../load-once.ts';
import type { OrderRecord } from './lifecycle/index.ts';

/**
 * Loads the shapes. The function given back writes a record as it is kept and shown from then on, held against the
 * contract here and nowhere else: lists are composed of these texts. It throws for one that breaks the contract.
 */
export const loadRecordText = loadOnce(async () => {
  const { checkShape } = await import('../../contract/schemas/check.ts');
  return (record: OrderRecord): string => {
    const { issues } = checkShape('OrderResponse', record, 'response');
    if (issues) throw new Error(`an order became none: ${JSON.stringify(issues.slice(0, 5))}`);
    return JSON.stringify(record);
  };
});
