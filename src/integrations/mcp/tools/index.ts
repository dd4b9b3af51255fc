import type { Tool } from '../tool.ts';
import { productGet, retailerCheck, retailers, search, wallet } from './catalogue.ts';
import {
  callOperation,
  describeOperation,
  orderCancel,
  orderExplain,
  orderGet,
  orderList,
  orderWatch,
  returnCreate,
} from './orders.ts';
import { orderPlace } from './place.ts';
import { orderQuote } from './quote.ts';

/** Every tool, in listing order. */
export const tools: readonly Tool[] = [
  search,
  productGet,
  retailerCheck,
  retailers,
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
