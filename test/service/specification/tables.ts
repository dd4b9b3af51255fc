import type { Proof, Rows } from './proof.ts';
import { deviceStateProofs, keyStateProofs, otherEndpointProofs } from './proofs/account-holder.ts';
import { accountEndpointProofs } from './proofs/accounts.ts';
import { agentEndpointProofs } from './proofs/agent.ts';
import { batchStateProofs, bulkEndpointProofs } from './proofs/bulk.ts';
import { declaredRecordProofs } from './proofs/declared-records.ts';
import { declaredRequestProofs } from './proofs/declared-requests.ts';
import { errorCodeProofs } from './proofs/error-codes.ts';
import { errorRuleProofs } from './proofs/error-rules.ts';
import { errorStatusProofs } from './proofs/error-statuses.ts';
import { concernProofs, errorTypeProofs, testSlugProofs } from './proofs/error-types.ts';
import { eventProofs } from './proofs/events.ts';
import { legacyEndpointProofs } from './proofs/legacy.ts';
import { limitProofs } from './proofs/limits.ts';
import { orderQueryProofs } from './proofs/order-query.ts';
import { itemStateProofs, orderStateProofs, trackingStateProofs } from './proofs/order-states.ts';
import { orderEndpointProofs } from './proofs/orders.ts';
import { productEndpointProofs } from './proofs/products.ts';
import { retailerEndpointProofs } from './proofs/retailers.ts';
import { returnEndpointProofs, returnStateProofs } from './proofs/returns.ts';
import { searchEndpointProofs } from './proofs/search.ts';
import * as declared from './rows/declared.ts';
import * as endpoints from './rows/endpoints.ts';
import * as errors from './rows/errors.ts';
import { eventRows } from './rows/events.ts';
import { limitRows } from './rows/limits.ts';
import * as states from './rows/states.ts';

/** A table of the specification: its rows and their proofs. */
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
  table('Endpoints: products', endpoints.productEndpoints, productEndpointProofs),
  table('Endpoints: search', endpoints.searchEndpoints, searchEndpointProofs),
  table('Endpoints: agent', endpoints.agentEndpoints, agentEndpointProofs),
  table('Endpoints: retailers', endpoints.retailerEndpoints, retailerEndpointProofs),
  table('Endpoints: managed accounts', endpoints.accountEndpoints, accountEndpointProofs),
  table('Endpoints: returns', endpoints.returnEndpoints, returnEndpointProofs),
  table('Endpoints: other', endpoints.otherEndpoints, otherEndpointProofs),
  table('Endpoints: legacy v1', endpoints.legacyEndpoints, legacyEndpointProofs),
  table('States: order', states.orderStates, orderStateProofs),
  table('States: order item', states.itemStates, itemStateProofs),
  table('States: tracking number', states.trackingStates, trackingStateProofs),
  table('States: return request', states.returnStates, returnStateProofs),
  table('States: bulk batch', states.batchStates, batchStateProofs),
  table('States: device approval polling', states.deviceStates, deviceStateProofs),
  table('States: sandbox key', states.keyStates, keyStateProofs),
  table('Errors: codes', errors.errorCodeRows, errorCodeProofs),
  table('Errors: statuses', errors.errorStatusRows, errorStatusProofs),
  table('Errors: rules', errors.errorRules, errorRuleProofs),
  table('Errors: sandbox product slugs', errors.testSlugRows, testSlugProofs),
  table('Errors: error_type', errors.errorTypeRows, errorTypeProofs),
  table('Fulfillment concerns', errors.concernRows, concernProofs),
  table('Events', eventRows, eventProofs),
  table('Limits', limitRows, limitProofs),
  table('Shapes: types and nulls of records', declared.declaredRecords, declaredRecordProofs),
  table('Shapes: types and nulls of requests', declared.declaredRequests, declaredRequestProofs),
];
