import type { JsonObject } from '../api/json.ts';
import { jsonSchemaOf } from '../api/openapi.ts';
import { fileOfStandingOrders } from '../api/schemas/standing-file.ts';

/** JSON Schema of a file of standing orders, for editors. Pure. */
export const schemaOfEntryFile = (): JsonObject => jsonSchemaOf(fileOfStandingOrders(), true);
