import type { AllHandlers } from '../handler.ts';
import { accountHandlers } from './accounts.ts';
import { agentHandlers } from './agent.ts';
import { bulkHandlers } from './bulk.ts';
import { descriptionHandlers } from './description.ts';
import { deviceHandlers } from './device.ts';
import { keyHandlers } from './keys.ts';
import { legacyHandlers } from './legacy.ts';
import { moneyHandlers } from './money.ts';
import { orderHandlers } from './orders.ts';
import { productHandlers } from './products.ts';
import { retailerHandlers } from './retailers.ts';
import { returnHandlers } from './returns.ts';
import { webhookHandlers } from './webhooks.ts';

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
