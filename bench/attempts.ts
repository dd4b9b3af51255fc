import { fileURLToPath } from 'node:url';
import { run } from './program.ts';
import { atMost, mebibytes, type Row } from './table.ts';

const [earlier, rows] = [1_000_000, 100_000];
const script = fileURLToPath(new URL('./claims.ts', import.meta.url));

/** What it costs to find out whether orders were placed before, against many earlier ones. */
export async function measure(folder: string): Promise<Row[]> {
  const claims = (mode: string, count = 0, first = 0) =>
    run(['--import', import.meta.resolve('tsx'), script, mode, folder, String(count), String(first)], {
      folder,
    });
  for (let first = 0; first < earlier; first += rows) await claims('fill', rows, first);
  const needs = await claims('needs', rows);
  const again = await claims('again', rows, earlier / 2);
  const one = await claims('one');
  const fresh = await claims('new', rows, earlier);
  const what = `${rows.toLocaleString('en-US')} rows against ${earlier.toLocaleString('en-US')} earlier attempts`;
  return [
    ...[
      { name: 'all new', run: fresh },
      { name: 'all ordered before', run: again },
    ].flatMap(({ name, run: { cpuMs, peak } }) => [
      atMost(`${what}, ${name}: processor time more than without`, (cpuMs - needs.cpuMs) / 1000, 2, 's'),
      {
        name: 'its memory more than without',
        figure: mebibytes(peak - needs.peak),
        aim: '60 MB',
        isMet: peak - needs.peak <= 60 * 2 ** 20,
      },
    ]),
    atMost('one order against them: time more than without', Number(one.stdout), 1, 'ms'),
  ];
}
