import { countryProblem } from '../../api/country.ts';
import { destinationCountries } from '../../api/enums.ts';
import { operations } from '../../api/operations/index.ts';
import { defineCommand } from '../../cli/define.ts';
import { UsageError } from '../../platform/errors.ts';
import { isUrl } from '../../platform/net/urls.ts';
import { checkColumns } from './columns.ts';

const query = operations['retailer.check'].query;

export const check = defineCommand({
  name: 'check',
  summary: 'Would an order for this product URL be refused, and why',
  arguments: [{ name: 'url', names: 'products', description: query.url.description, required: true }],
  // Offers the countries that the service accepts, because the contract limits only the length of a country code.
  options: {
    country: { kind: 'text', offers: destinationCountries, description: query.country.description },
  },
  examples: [
    { command: 'errand retailer check $URL', note: 'delivered to the US' },
    { command: 'errand retailer check $URL --country DE -o json --query orderable', note: 'true or false' },
  ],
  output: { record: 'retailer.check' },
  operations: ['retailer.check'],
  exitCodes: { 7: 'an order would be refused' },
  related: ['retailer list', 'order create'],
  async run(context, { url, country }) {
    if (!isUrl(url)) throw new UsageError(`"${url}" is not a URL; give the address of a product page`);
    const problem = country === undefined ? undefined : countryProblem(country);
    if (problem !== undefined) throw new UsageError(`--country: ${problem}`);
    const client = await context.client();
    const { body } = await client.call('retailer.check', {
      query: { url, ...(country !== undefined && { country: country.toUpperCase() }) },
    });
    return {
      kind: 'record',
      record: body,
      columns: checkColumns,
      id: 'domain',
      exitCode: body.orderable ? 0 : 7,
    };
  },
});
