import { expect, test } from 'vitest';
import { parseProduct } from '../../../src/orders/input/product-flag.ts';

const url = 'https://shop.example/p';

test.each([
  [url, { url }],
  [`${url},quantity=2`, { url, quantity: 2 }],
  [`${url}, Quantity = 2`, { url, quantity: 2 }],
  [
    `${url},variant=Color:Red, Blue,variant=Size:L`,
    {
      url,
      variant: [
        { label: 'Color', value: 'Red, Blue' },
        { label: 'Size', value: 'L' },
      ],
    },
  ],
  [
    `${url},condition=new,not-condition=UsedGood`,
    { url, condition_in: ['New'], condition_not_in: ['UsedGood'] },
  ],
  [`${url}/a,b?ids=1,2,3&x=y`, { url: `${url}/a,b?ids=1,2,3&x=y` }],
  [`${url}?a=1%2Cb=2`, { url: `${url}?a=1%2Cb=2` }],
  [`${url}/a,b,c.html`, { url: `${url}/a,b,c.html` }],
  [`${url}?tags=red,blue&size=L`, { url: `${url}?tags=red,blue&size=L` }],
  [`${url}/shampoo,conditioner.html`, { url: `${url}/shampoo,conditioner.html` }],
  [`${url}/a,b;jsessionid=1F?x=y#z=1`, { url: `${url}/a,b;jsessionid=1F?x=y#z=1` }],
  [`${url}/w_300,h_300/p.html,quantity=3`, { url: `${url}/w_300,h_300/p.html`, quantity: 3 }],
  [`${url},variant=Fit:Slim, long leg`, { url, variant: [{ label: 'Fit', value: 'Slim, long leg' }] }],
])('%s', (text, line) => {
  expect(parseProduct(text)).toEqual(line);
});

test.each([
  ['condition_not_in=UsedGood', 'write not-condition=UsedGood'],
  ['not_condition=New', 'write not-condition=New'],
  ['exclude-condition=New', 'write not-condition=New'],
  ['notcondition=New', 'write not-condition=New'],
  ['condition_in=New', 'write condition=New'],
  ['conditions=New', 'write condition=New'],
  ['qty=2', 'write quantity=2'],
  ['quantiy=2', 'write quantity=2'],
  ['variants=Size:L', 'write variant=Size:L'],
  ['condition!=New', 'write not-condition=New'],
  ['!condition=New', 'write not-condition=New'],
  ['-condition=New', 'write not-condition=New'],
  ['not condition=New', 'write not-condition=New'],
  ['not-condition:New', 'write not-condition=New'],
  ['condition:New', 'write condition=New'],
  ['condition\uff1aNew', 'write condition=New'],
  ['cond.=New', 'write condition=New'],
  ['variant:Size=L', 'write variant=Size:L'],
  ['variant.size=L', 'write variant=Label:Value'],
  ['quantity:2', 'write quantity=2'],
  ['quantity 2', 'write quantity=2'],
  ['quantiy 2', 'write quantity=2'],
  ['quantity2', 'write quantity=2'],
  ['condition-New', 'write condition=New'],
  ['not condition New', 'write not-condition=New'],
  ['quantity[]=2', 'write quantity=2'],
  ['--quantity=2', 'write quantity=2'],
  [';quantity=2', 'write quantity=2'],
  ['variant=Size:L,quantity:2', 'write quantity=2. Options are'],
  ['variant=Size:L,quantity 2', 'belongs to the value, give the order with --file'],
  [
    'size=L',
    '",size=L" is not an option. Options are quantity=2, variant=Size:L, condition=New and not-condition=UsedGood. Where the comma belongs to the URL, write %2C for it',
  ],
  ['size:L', '",size:L" is not an option'],
  [' größe = L', '", größe = L" is not an option'],
  ['size=L,quantity=2', '",size=L" is not an option'],
  ['quantity=2,size=L', '",size=L" is not an option'],
  ['quantity', 'write quantity=…'],
  ['not-condition', 'write not-condition=…'],
  ['quantity=2,quantity=3', 'quantity is given twice'],
  ['quantity=0', '--product: quantity'],
  ['quantity=2,5', '--product: quantity'],
  ['variant=Red', 'variant takes Label:Value'],
  ['condition=New,UsedGood', 'condition takes one of'],
])('%s is refused: no constraint becomes a piece of the URL, or its opposite', (part, message) => {
  expect(() => parseProduct(`${url},${part}`)).toThrow(message);
});

test.each([`${url};quantity=2`, `${url}\uff0cquantity=2`, `${url} quantity=2`, `${url} ,quantity 2`])(
  'another separator than a comma does not hide a part: %s',
  (text) => {
    expect(() => parseProduct(text)).toThrow('--product');
  },
);
