import type { Proof, Rows } from './proof.ts';
import { batchStateProofs, bulkEndpointProofs } from './proofs/bulk.ts';
import { orderQueryProofs } from './proofs/order-query.ts';
import { orderEndpointProofs } from './proofs/orders.ts';
import * as endpoints from './rows/endpoints.ts';
import * as states from './rows/states.ts';

/** A table of the specification: what its rows say, and what shows that they hold. */
export interface Table {
  readonly title: string;
  readonly rows: Rows;
  readonly proofs: Readonly<Record<string, Proof>>;
}

const table = (title: string, rows: Rows, proofs: Readonly<Record<string, Proof>>): Table => ({
  title,
  rows,
  proofs,
});

export const tables: readonly Table[] = [
  table('Endpoints: orders', endpoints.orderEndpoints, orderEndpointProofs),
  table('Endpoints: query of GET /orders', endpoints.orderQuery, orderQueryProofs),
  table('Endpoints: bulk orders', endpoints.bulkEndpoints, bulkEndpointProofs),
  table('States: bulk batch', states.batchStates, batchStateProofs),
];
