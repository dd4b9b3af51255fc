import { accountHandlers } from '../handlers/accounts.ts';
import { agentHandlers } from '../handlers/agent.ts';
import { bulkHandlers } from '../handlers/bulk.ts';
import { deviceHandlers } from '../handlers/device.ts';
import { keyHandlers } from '../handlers/keys.ts';
import { legacyHandlers } from '../handlers/legacy.ts';
import { moneyHandlers } from '../handlers/money.ts';
import { orderHandlers } from '../handlers/orders.ts';
import { productHandlers } from '../handlers/products.ts';
import { retailerHandlers } from '../handlers/retailers.ts';
import { returnHandlers } from '../handlers/returns.ts';
import { webhookHandlers } from '../handlers/webhooks.ts';
import { descriptionHandlers } from './description.ts';
import type { AllHandlers } from './handler.ts';

/** The handler of each operation of the table. */
export const handlers: AllHandlers = {
  ...accountHandlers,
  ...agentHandlers,
  ...bulkHandlers,
  ...descriptionHandlers,
  ...deviceHandlers,
  ...keyHandlers,
  ...legacyHandlers,
  ...moneyHandlers,
  ...orderHandlers,
  ...productHandlers,
  ...retailerHandlers,
  ...returnHandlers,
  ...webhookHandlers,
};
