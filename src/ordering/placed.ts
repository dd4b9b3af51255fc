import type { Shape } from '../contract/schemas/index.ts';
import type { Row } from '../output/result.ts';

export type Body = Shape<'OrderCreate'>;
export type KeyedBody = Body & { readonly idempotency_key: string };

export interface Placed {
  readonly order: Row;
  /** Set when the order had been made by an earlier attempt. */
  readonly existed: boolean;
}
