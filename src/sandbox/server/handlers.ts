import { accountHandlers } from '../accounts/handlers.ts';
import { bulkHandlers } from '../bulk/handlers.ts';
import { productHandlers } from '../catalogue/handlers.ts';
import { retailerHandlers } from '../catalogue/retailer-handlers.ts';
import { deviceHandlers } from '../device/handlers.ts';
import { keyHandlers } from '../keys/handlers.ts';
import { orderHandlers } from '../orders/handlers.ts';
import { retryHandlers } from '../orders/retry.ts';
import { agentHandlers } from '../payments/handlers.ts';
import { returnHandlers } from '../returns/handlers.ts';
import { moneyHandlers } from '../wallet/handlers.ts';
import { webhookHandlers } from '../webhooks/handlers.ts';
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
  ...retryHandlers,
  ...moneyHandlers,
  ...orderHandlers,
  ...productHandlers,
  ...retailerHandlers,
  ...returnHandlers,
  ...webhookHandlers,
};
