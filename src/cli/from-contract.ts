import type { Parameter } from '../contract/operation.ts';
import type { Completable, Option } from './define.ts';

type OptionFor<P extends Parameter> = P extends { type: 'boolean' }
  ? { readonly kind: 'yes-no'; readonly description: string }
  : P extends { type: 'integer' | 'number' }
    ? { readonly kind: P['type']; readonly description: string }
    : P extends { type: 'date-time' }
      ? { readonly kind: 'date'; readonly description: string }
      : P extends { type: 'strings'; values: infer V extends readonly string[] }
        ? { readonly kind: 'list'; readonly description: string; readonly values: V }
        : P extends { type: 'strings' }
          ? { readonly kind: 'list'; readonly description: string }
          : P extends { values: readonly string[]; grows: true }
            ? { readonly kind: 'text'; readonly description: string; readonly suggests: readonly string[] }
            : P extends { values: infer V extends readonly string[] }
              ? { readonly kind: 'choice'; readonly description: string; readonly values: V }
              : { readonly kind: 'text'; readonly description: string };

/** The option for a query parameter of the table: its kind, bounds, values and description are the contract's. */
export function optionFor<const P extends Parameter>(
  parameter: P,
  more: Completable & { readonly group?: string } = {},
): OptionFor<P> {
  // The conditional type above and the function below read the same fields of the same parameter.
  return { ...plainOption(parameter), ...more } as unknown as OptionFor<P>;
}

function plainOption(parameter: Parameter): Option {
  const { description, values, grows, min, max, minLength, maxLength } = parameter;
  switch (parameter.type) {
    case 'boolean':
      return { kind: 'yes-no', description };
    case 'integer':
    case 'number':
      return {
        kind: parameter.type,
        description,
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
      };
    case 'date-time':
      return { kind: 'date', description };
    case 'strings':
      return { kind: 'list', description, ...(values && { values }) };
    default:
      if (values && !grows) return { kind: 'choice', description, values };
      return {
        kind: 'text',
        description,
        ...(values && { suggests: values }),
        ...(minLength !== undefined && { minLength }),
        ...(maxLength !== undefined && { maxLength }),
      };
  }
}
