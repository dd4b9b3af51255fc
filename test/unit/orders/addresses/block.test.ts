import { expect, test } from 'vitest';
import { addressInBlock } from '../../../../src/orders/addresses/block.ts';
import { addressProblems, normalised } from '../../../../src/orders/addresses/options.ts';

const austin = {
  first_name: 'Ada King',
  last_name: 'Byron',
  address_line1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  postal_code: '78701',
  country: 'US',
};

test.each([
  ['Ada King Byron', '1 Main St', 'Austin, TX 78701', 'USA'],
  ['Ada King Byron,', '1 Main St,', 'Austin TX 78701'],
  ['Ada King Byron, 1 Main St, Austin, Texas 78701'],
  ['Ada King Byron, 1 Main St, Austin, TX 78701, United States'],
])('a pasted address is taken apart: %s …', (...lines) => {
  expect(addressInBlock(lines)).toEqual(austin);
});

test('a flat, a phone number, and a town whose code comes first', () => {
  expect(
    addressInBlock([
      'Bo Weber',
      'Lindenstr. 5',
      '2. OG',
      '10969 Berlin',
      'Deutschland',
      'Tel: +49 30 123456',
    ]),
  ).toEqual({
    first_name: 'Bo',
    last_name: 'Weber',
    address_line1: 'Lindenstr. 5',
    address_line2: '2. OG',
    city: 'Berlin',
    postal_code: '10969',
    country: 'DE',
    phone_number: '+49 30 123456',
  });
});

test.each([[['Ada']], [['Ada', 'Byron']], [['Ada, Byron']], [['Ada Byron', '1 Main St']]])(
  '%j is no address',
  (lines) => {
    expect(addressInBlock(lines)).toBeUndefined();
  },
);

test('country and state are written as carriers write them; German and Italian codes have five digits', () => {
  expect(normalised({ country: ' us ', state: 'texas', city: ' Austin' })).toEqual({
    country: 'US',
    state: 'TX',
    city: 'Austin',
  });
  expect(addressProblems({ postal_code: '1011', country: 'de' })[0]?.message).toContain('German');
  expect(addressProblems({ postal_code: '10115', country: 'DE' })).toEqual([]);
});
