import { catalogueOf } from '../../../support/catalogues.ts';

/** Runs as a separate process: opens the catalogue of a file on request and prints what it finds. */
const [file = ''] = process.argv.slice(2);
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  const catalogue = catalogueOf(1, file);
  const { results } = catalogue.search({ q: 'coffee', sort: 'price_asc', limit: 10_000 });
  catalogue.close();
  process.stdout.write(`${results.length} ${results.at(-1)?.id}\n`, () => process.exit(0));
});
