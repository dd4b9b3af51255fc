import { z } from 'zod';
import type { JsonObject } from '../../api/json.ts';
import { jsonSchemaOf } from '../../api/openapi.ts';
import type { Operation, Parameter } from '../../api/operation.ts';
import { checkAgainst } from '../../api/schemas/check.ts';
import { issueText } from '../../api/validation.ts';
import { UsageError } from '../../platform/errors.ts';
import type { JsonSchema } from './untrusted.ts';

export { z } from 'zod';

/** Arguments of a tool. They are named fields, and no other fields are accepted. */
export type ToolArguments = z.ZodObject;

/**
 * Converts the parameters of an operation to fields of a tool.
 * @param names lists the parameters to include; all by default.
 */
export function parametersOf(
  { pathParameters = {}, query = {} }: Operation,
  names: readonly string[] = [...Object.keys(pathParameters), ...Object.keys(query)],
): Record<string, z.ZodType> {
  const all: Readonly<Record<string, Parameter>> = { ...pathParameters, ...query };
  return Object.fromEntries(
    names.flatMap((name) => {
      const parameter = all[name];
      return parameter ? [[name, fieldOf(parameter)]] : [];
    }),
  );
}

/** Only the basic type is checked here. More specific formats (a date, a UUID) are checked when the request is made. */
function fieldOf(parameter: Parameter): z.ZodType {
  const { description, required, values, grows, type } = parameter;
  const text = boundedText(parameter);
  const base = {
    integer: () => boundedNumber(z.int(), parameter),
    number: () => boundedNumber(z.number(), parameter),
    boolean: () => z.boolean(),
    strings: () => z.array(values && !grows ? z.enum(values) : text).max(maxStrings),
    uuid: () => z.string().max(maxTextLength),
    'date-time': () => z.string().max(maxTextLength),
    string: () => (values && !grows ? z.enum(values) : text),
  }[type]();
  const described = base.describe(description);
  return required ? described : described.optional();
}

/** Maximum length of a text that has no limit of its own. */
export const maxTextLength = 2000;
const maxStrings = 50;

const boundedText = ({ minLength = 0, maxLength = maxTextLength }: Parameter): z.ZodString =>
  z.string().min(minLength).max(maxLength);

const boundedNumber = <N extends z.ZodNumber>(number: N, { min, max }: Parameter): N => {
  const from = min === undefined ? number : number.min(min);
  return max === undefined ? from : from.max(max);
};

/** Formats the arguments of a tool as JSON Schema, for clients. Pure. */
export const argumentSchema = (shape: ToolArguments): JsonSchema => jsonSchemaOf(shape, true);

/**
 * Validates arguments, rejecting unknown fields.
 * @throws UsageError naming each invalid field.
 */
export function readArguments(tool: string, shape: ToolArguments, given: unknown): JsonObject {
  const checked = checkAgainst(shape, given ?? {}, 'body');
  if (checked.value) return checked.value;
  const { issues } = checked;
  const lines = issues.slice(0, maxIssues).map((issue) => issueText(issue, 'the arguments'));
  const more = issues.length > maxIssues ? `; and ${issues.length - maxIssues} more` : '';
  throw new UsageError(`${tool} does not take these arguments: ${lines.join('; ')}${more}`, {
    code: 'invalid_arguments',
  });
}

const maxIssues = 10;
