import { accountHolderOperations } from './account-holder.ts';
import { accountOperations } from './accounts.ts';
import { agentOperations } from './agent.ts';
import { bulkOperations } from './bulk.ts';
import { legacyOperations } from './legacy.ts';
import { orderOperations } from './orders.ts';
import { productOperations } from './products.ts';
import { retailerOperations } from './retailers.ts';
import { returnOperations } from './returns.ts';

/** Every operation of the service, by name. */
export const operations = {
  ...productOperations,
  ...retailerOperations,
  ...orderOperations,
  ...bulkOperations,
  ...returnOperations,
  ...accountOperations,
  ...agentOperations,
  ...accountHolderOperations,
  ...legacyOperations,
} as const;

export type OperationName = keyof typeof operations;
