import type { z } from 'zod';
import * as account from './account.ts';
import * as accountHolder from './account-holder.ts';
import * as bulk from './bulk.ts';
import * as error from './error.ts';
import * as order from './order.ts';
import * as orderCreate from './order-create.ts';
import * as product from './product.ts';
import * as retailer from './retailer.ts';
import * as returns from './return.ts';
import * as tracking from './tracking.ts';

/**
 * Every shape of the service by name. Each is built on first use. The operation table refers to shapes by name, so
 * reading the table loads no shapes.
 */
export const schemas = {
  ...orderCreate,
  ...order,
  ...tracking,
  ...bulk,
  ...product,
  ...retailer,
  ...account,
  ...returns,
  ...accountHolder,
  ...error,
};

export type SchemaName = keyof typeof schemas;
/** A shape as the service sends it. */
export type Shape<N extends SchemaName> = z.output<ReturnType<(typeof schemas)[N]>>;
/** A shape as a caller may send it. Fields with defaults are optional. */
export type ShapeInput<N extends SchemaName> = z.input<ReturnType<(typeof schemas)[N]>>;
