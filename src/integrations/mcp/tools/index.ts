import type { Tool } from '../tool.ts';
import { productGet, retailerCheck, search } from './catalogue.ts';
import { orderCancel, returnCreate } from './changes.ts';
import { callOperation, describeOperation, orderExplain, orderGet, orderList, orderWatch } from './orders.ts';
import { orderPlace } from './place.ts';
import { orderQuote } from './quote.ts';
import { wallet } from './wallet.ts';

/** Every tool, in the order in which a client lists them. */
export const tools: readonly Tool[] = [
  search,
  productGet,
  retailerCheck,
  orderQuote,
  orderPlace,
  orderGet,
  orderList,
  orderWatch,
  orderCancel,
  orderExplain,
  returnCreate,
  wallet,
  describeOperation,
  callOperation,
];
