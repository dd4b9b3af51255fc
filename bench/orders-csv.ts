import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const headings =
  'product_url,quantity,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number,metadata.team,my_reference';

/**
 * Writes a CSV of distinct valid orders, about 150 bytes each. @param cents the ceiling of each. @param phone of each.
 */
export async function writeOrdersCsv(
  file: string,
  rows: number,
  product: string,
  cents = 5000,
  phone = '5125550100',
): Promise<void> {
  const out = createWriteStream(file);
  let text = `${headings}\n`;
  for (let row = 1; row <= rows; row += 1) {
    text += `${product},1,${cents},Ada Byron,"${row} Main Street, Apartment 7",Austin,TX,78701,US,${phone},procurement,reference ${String(row).padStart(9, '0')}\n`;
    if (text.length < 1 << 16) continue;
    if (!out.write(text)) await once(out, 'drain');
    text = '';
  }
  out.end(text);
  await once(out, 'finish');
}
