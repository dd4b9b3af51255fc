import { z } from 'zod';
import { withoutNoise } from '../openapi.ts';
import { Scenario } from './scenario.ts';

/** JSON Schema of a scenario file, for editors. Pure. */
export function scenarioSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(Scenario, {
    io: 'input',
    unrepresentable: 'any',
    override({ jsonSchema: node }) {
      withoutNoise(node);
      delete node.observed;
      // A placeholder such as {shop_url}/test-success is not a URL before a sandbox exists.
      if (node.format === 'uri') delete node.format;
    },
  });
}
