import { z } from 'zod';
import { type SchemaName, schemas } from './index.ts';

/** Whether a contract shape has a path such as `items.0.url`. Data of unknown structure has every path. */
export const hasPath = (name: SchemaName, path: string): boolean => reaches(schemas[name](), path.split('.'));

function reaches(schema: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  if (schema instanceof z.ZodObject) {
    const shape: Readonly<Record<string, unknown>> = schema.shape;
    return Object.hasOwn(shape, key) && reaches(shape[key], rest);
  }
  if (schema instanceof z.ZodArray) return /^\d+$/.test(key) && reaches(schema.element, rest);
  if (schema instanceof z.ZodRecord) return reaches(schema.valueType, rest);
  if (schema instanceof z.ZodUnion) return schema.options.some((option) => reaches(option, [key, ...rest]));
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return reaches(schema.unwrap(), [key, ...rest]);
  if (schema instanceof z.ZodPipe) return reaches(schema.out, [key, ...rest]);
  return schema instanceof z.ZodUnknown || schema instanceof z.ZodAny;
}
