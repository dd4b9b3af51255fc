import { describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/api/operation.ts';
import { operations } from '../../../src/api/operations/index.ts';
import { schemas } from '../../../src/api/schemas/index.ts';
import { type Known, knownCommands } from '../../support/known-commands.ts';

/** Fields whose flag or argument is named differently from the wire; `*` covers any operation. */
const renamed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': {
    ...{ status_filter: 'status', q: 'words', query: 'words', product_id: 'id', order_id: 'order' },
    ...{ created_after: 'since', created_before: 'until' },
  },
  'bulk.create': { rows: 'file', filename: 'file' },
  'bulk.validate': { rows: 'file', filename: 'file' },
  'return.create': { items: 'item' },
  'account.create': accountFields(),
  'account.update': accountFields(),
  'webhook.register': { webhook_url: 'url' },
};

/** Fields a command fills in itself; the user cannot know them. */
const ownDoing: Readonly<Record<string, readonly string[]>> = { 'device.token': ['device_code'] };

/**
 * Fields without effect: validating rows shares the shape of placing them but sends no notifications, and the device
 * token's standard fields are not needed by the service.
 */
const withoutMeaning: Readonly<Record<string, readonly string[]>> = {
  'bulk.validate': ['notify_on_complete'],
  'device.token': ['grant_type', 'client_id'],
};

function accountFields() {
  return { password: 'password-file', totp_secret: 'totp-file', retailer_config: 'config-file' };
}

const commands = (await knownCommands()).filter(({ path }) => path !== 'api');

const kebab = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`).replaceAll('_', '-');

/** All flags and arguments of a command, as typed. */
const inputsOf = ({ command }: Known): string[] => [
  ...Object.entries(command.options ?? {}).map(([key, option]) => option.flag ?? kebab(key)),
  ...(command.arguments ?? []).map(({ name }) => name),
];

/** Whether a file flag supplies the request body itself. */
const takesPayload = ({ path, command }: Known): boolean =>
  !path.startsWith('bulk') && Object.keys(command.options ?? {}).includes('file');

/** Possible names of a field's flag or argument. */
function namesOf(operation: string, field: string): string[] {
  const names = [renamed[operation]?.[field], renamed['*']?.[field], kebab(field)];
  return names.filter((name) => name !== undefined);
}

const table: Readonly<Record<string, Operation>> = operations;

describe.each(Object.entries(table))('%s', (name, operation) => {
  const calling = commands.filter(({ command }) => command.operations?.some((one) => one === name));

  test('is reached by a command of its own, beside api', () => {
    expect(calling.map(({ path }) => path)).not.toEqual([]);
  });

  test('takes each query parameter from a flag', () => {
    const inputs = calling.flatMap(inputsOf);
    const without = Object.keys(operation.query ?? {}).filter(
      (parameter) => !namesOf(name, parameter).some((one) => inputs.includes(one)),
    );
    expect(without).toEqual([]);
  });

  test('takes each body field from a flag or a payload file', () => {
    const schema = operation.body && schemas[operation.body.schema]();
    const fields = schema && 'shape' in schema ? Object.keys(schema.shape) : [];
    expect(fields.length > 0).toBe(schema !== undefined);
    if (calling.some(takesPayload)) return;
    const inputs = calling.flatMap(inputsOf);
    const known = [...(ownDoing[name] ?? []), ...(withoutMeaning[name] ?? [])];
    const without = fields.filter(
      (field) => !known.includes(field) && !namesOf(name, field).some((one) => inputs.includes(one)),
    );
    expect(without).toEqual([]);
  });
});
