import { expect, test } from 'vitest';
import { parseProduct } from '../../src/orders/input/product-flag.ts';

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
  [
    'size=L',
    '"size=" is not known; known are quantity, variant, condition, not-condition. Where it belongs to the URL, write %2C',
  ],
  [' größe = L', '"größe=" is not known'],
  ['size=L,quantity=2', '"size=" is not known'],
  ['quantity=2,size=L', '"size=" is not known'],
  ['quantity', 'quantity has no value'],
  ['not-condition', 'not-condition has no value'],
  ['quantity=2,quantity=3', 'quantity is given twice'],
  ['quantity=0', '--product: quantity'],
  ['quantity=2,5', '--product: quantity'],
  ['variant=Red', 'variant takes Label:Value'],
  ['condition=New,UsedGood', 'condition takes one of'],
])('%s is refused: no constraint becomes a piece of the URL, or its opposite', (part, message) => {
  expect(() => parseProduct(`${url},${part}`)).toThrow(message);
});
