import { boundNames, type Facts } from './fields.ts';

/**
 * Seen by a client that was written to the contract: `tightened` where it may send less or can count on less than the
 * contract says, `loosened` where more, `changed` where neither is known.
 */
export const changeClasses = ['removed', 'tightened', 'changed', 'loosened', 'added'] as const;
export type ChangeClass = (typeof changeClasses)[number];

/** One difference between what the contract says of a value and what the document says. */
export interface FactChange {
  readonly change: ChangeClass;
  /** What differs: `type`, `required`, `value`, a bound, `format`, `default`. */
  readonly aspect: string;
  readonly contract: string | number | boolean | null;
  readonly service: string | number | boolean | null;
}

/** Who sends the value. */
export type Sender = 'client' | 'service';

/** Every difference in what two documents say of one value. Pure. */
export function compareFacts(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  return [
    ...compareTypes(contract, service, sender),
    ...compareRequired(contract, service, sender),
    ...compareValues(contract, service, sender),
    ...boundNames.flatMap((name) => compareBound(name, contract.bounds[name], service.bounds[name], sender)),
    ...compareFormats(contract, service, sender),
    ...compareDefaults(contract, service),
  ];
}

/** Fewer possible values restrict who sends them, and are a promise to who gets them. */
const narrowed = (sender: Sender): ChangeClass => (sender === 'client' ? 'tightened' : 'loosened');
const widened = (sender: Sender): ChangeClass => (sender === 'client' ? 'loosened' : 'tightened');

function compareTypes(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  const lost = [...contract.types].some((type) => !covers(service.types, type));
  const gained = [...service.types].some((type) => !covers(contract.types, type));
  if (!lost && !gained) return [];
  const change = lost && gained ? 'tightened' : lost ? narrowed(sender) : widened(sender);
  return [{ change, aspect: 'type', contract: spelled(contract.types), service: spelled(service.types) }];
}

const covers = (types: ReadonlySet<string>, type: string): boolean =>
  types.has('any') || types.has(type) || (type === 'integer' && types.has('number'));

const spelled = (types: ReadonlySet<string>): string => [...types].toSorted().join(' or ');

function compareRequired(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  if (contract.required === service.required) return [];
  const change = service.required ? narrowed(sender) : widened(sender);
  return [{ change, aspect: 'required', contract: contract.required, service: service.required }];
}

function compareValues(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  if (contract.listedByService) return [];
  const [before, after] = [contract.values, service.values];
  if (!before && !after) return [];
  if (!before || !after) {
    const change = after ? narrowed(sender) : widened(sender);
    return [{ change, aspect: 'values', contract: listed(before), service: listed(after) }];
  }
  const [known, served] = [new Set(before), new Set(after)];
  return [
    ...[...known]
      .filter((value) => !served.has(value))
      .map((value) => ({ change: 'removed' as const, aspect: 'value', contract: value, service: null })),
    ...[...served]
      .filter((value) => !known.has(value))
      .map((value) => ({ change: 'added' as const, aspect: 'value', contract: null, service: value })),
  ];
}

const mostListed = 20;

function listed(values: readonly string[] | undefined): string | null {
  if (!values) return null;
  const more = values.length > mostListed ? `, and ${values.length - mostListed} more` : '';
  return values.slice(0, mostListed).join(', ') + more;
}

function compareBound(
  name: string,
  contract: number | undefined,
  service: number | undefined,
  sender: Sender,
): FactChange[] {
  if (contract === service) return [];
  const none = name.startsWith('min') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const grows = (service ?? none) > (contract ?? none);
  const change = grows === name.startsWith('min') ? narrowed(sender) : widened(sender);
  return [{ change, aspect: name, contract: contract ?? null, service: service ?? null }];
}

/** Two patterns cannot be compared; where the format is the same the pattern is only its spelling. */
function compareFormats(contract: Facts, service: Facts, sender: Sender): FactChange[] {
  const aspect = contract.format === service.format ? 'pattern' : 'format';
  if (aspect === 'pattern' && contract.format !== undefined) return [];
  const [before, after] = [contract[aspect], service[aspect]];
  if (before === after) return [];
  const change = before === undefined ? narrowed(sender) : after === undefined ? widened(sender) : 'changed';
  return [{ change, aspect, contract: before ?? null, service: after ?? null }];
}

const compareDefaults = (contract: Facts, service: Facts): FactChange[] =>
  contract.default === service.default
    ? []
    : [
        {
          change: 'changed',
          aspect: 'default',
          contract: contract.default ?? null,
          service: service.default ?? null,
        },
      ];
