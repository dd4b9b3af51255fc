import { expect, test } from 'vitest';
import { canonicalRecipient } from '../../../src/format/canonical-recipient.ts';
import { hasEntities, repairedText } from '../../../src/format/damaged-text.ts';

test.each([
  ['M&uuml;ller &amp; S&ouml;hne', 'Müller & Söhne'],
  ['Caf&#233; &#x2013; Nord', 'Café – Nord'],
  ['Ren&eacute;&nbsp;Roy', 'René Roy'],
  ['MÃ¼ller', 'Müller'],
  ['StraÃŸe 5', 'Straße 5'],
  ['Dâ€™Angelo', 'D’Angelo'],
  ['Müller', 'Müller'],
  ['SÃO PAULO', 'SÃO PAULO'],
  ['Barnes & Sons; Ltd', 'Barnes & Sons; Ltd'],
  ['&unknown; x', '&unknown; x'],
  // Half of a damaged text is left as it is.
  ['Ã¼ and 日', 'Ã¼ and 日'],
])('%j is %j', (text, repaired) => {
  expect(repairedText(text)).toBe(repaired);
  expect(repairedText(repaired)).toBe(repaired);
});

test('an entity needs its semicolon', () => {
  expect(['&amp;', '&#38;', 'AT&T', 'a & b;'].map(hasEntities)).toEqual([true, true, false, false]);
});

test('a recipient is the same before and after the text is corrected', () => {
  const of = (last_name: string) =>
    canonicalRecipient({
      first_name: 'Ida',
      last_name,
      address_line1: '1 A St',
      postal_code: '1',
      country: 'US',
    });
  expect(of('M&uuml;ller')).toBe(of('Müller'));
  expect(of('MÃ¼ller')).toBe(of('Müller'));
});
