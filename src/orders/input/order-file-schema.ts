import type { JsonObject } from '../../api/json.ts';
import { jsonSchemaOf } from '../../api/openapi.ts';
import { orderFile } from '../../api/schemas/order-file.ts';
import { maxReferenceLength } from '../needs/reference.ts';

/** JSON Schema of an order file, for editors. Pure. */
export const orderFileSchema = (): JsonObject => jsonSchemaOf(orderFile(maxReferenceLength), true);
