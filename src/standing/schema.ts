import type { JsonObject } from '../api/json.ts';
import { jsonSchemaOf } from '../api/openapi.ts';
import { standingFile } from '../api/schemas/standing-file.ts';

/** JSON Schema of a file of standing orders, for editors. Pure. */
export const standingFileSchema = (): JsonObject => jsonSchemaOf(standingFile(), true);
