import { describe, expect, test } from 'vitest';
import {
  likeliest,
  likenessOf,
  type MappedColumn,
  mistakenFor,
  suggestedHeadings,
} from '../../../src/bulk/csv/mapping.ts';

const pick = (column: MappedColumn, headings: readonly string[]): string | undefined =>
  headings[likeliest(column, headings, () => true) ?? -1];

describe('the heading that looks most like a column', () => {
  test.each<[MappedColumn, readonly string[], string | undefined]>([
    ['postal_code', ['Bill To Zip', 'Ship To City', 'Ship To Zip'], 'Ship To Zip'],
    ['postal_code', ['ShipPostalCode', 'note'], 'ShipPostalCode'],
    ['postal_code', ['Seller Zip', 'Billing Zip'], undefined],
    ['name', ['Product Name', 'Company Name', 'Recipient Name'], 'Recipient Name'],
    ['name', ['Item', 'Ship To', 'Ship To City'], 'Ship To'],
    ['name', ['File Name', 'First Name'], undefined],
    ['first_name', ['Ship Last Name', 'ShipFirstName'], 'ShipFirstName'],
    ['address_line1', ['Email Address', 'IP Address', 'Ship Address 2', 'Ship Address 1'], 'Ship Address 1'],
    ['address_line1', ['Address2', 'Street'], 'Street'],
    ['address_line2', ['Delivery Address Line 1', 'Delivery Address Line 2'], 'Delivery Address Line 2'],
    ['product_url', ['Image URL', 'Tracking Link', 'Supplier note', 'Item Link'], 'Item Link'],
    ['max_price', ['Retail Price', 'Shipping', 'Price Limit'], 'Price Limit'],
    ['max_price', ['Retail Price', 'Total'], undefined],
    ['state', ['Order Status', 'Payment State', 'Delivery State'], 'Delivery State'],
    ['phone_number', ['Tel.', 'Fax'], 'Tel.'],
    ['quantity', ['Qty Ordered', 'SKU'], 'Qty Ordered'],
    ['country', ['', 'Land'], 'Land'],
    ['postal_code', ['Rechnungs-PLZ', 'PLZ'], 'PLZ'],
    ['address_line1', ['Straße', 'Ort'], 'Straße'],
    ['name', ['Nome', 'Cognome', 'Destinatario'], 'Destinatario'],
  ])('%s among %j is %j', (column, headings, wanted) => {
    expect(pick(column, headings)).toBe(wanted);
  });

  test('is none that was chosen before', () => {
    expect(likeliest('city', ['City', 'Town'], (index) => index !== 0)).toBe(1);
  });

  test('is none in a long heading', () => {
    for (const text of ['aA'.repeat(500_000), 'a1'.repeat(500_000), ' '.repeat(1_000_000)])
      expect(likenessOf('city', text)).toBe(0);
  });
});

const mistaken = {
  quantity:
    "Menge|Anzahl|Pieces|Quantity Ordered|Units|Stück|STÜCKZAHL|Stk.|Bestellmenge|Quantità|Q.tà|Pezzi|Lineitem quantity|orderqty|QtyOrdered|Quantity (pcs)|quantity*|How many?|Item count|No. of Units|Ordered Qty|Unit Qty|quantity-purchased|Quantité|Aantal|Stueckzahl|Stck|Stck.|Mng.|Q'ty|Q’ty|Qnty|Quant.|No. of items|# of items|Piece(s)|N. pz|Qty (max 10)|Qty (max)|Quantity per order|Quantity (packs)|Quantity, max. per person 5|Qty (cases)|Order Quantity (unit)|Number of units|SHIPQTY|Stück(e)",
  country:
    'Land|Lieferland|Länderkennzeichen|Country/Region|Ship To Country|shipcountry|Nazione|Paese|Staat|Country Name|Laendercode|Laenderkennzeichen|Länderschlüssel|Länderkürzel|Landeskürzel|Ländername|Kundenland|Ctry|Cntry|Pays de livraison|Code pays|País de entrega',
  address_line2:
    "Apt|Apt.|Ship Address2|Delivery Address Line 2|Adresszusatz|Hausnummer|Suite|Unit #|Interno|Indirizzo 2|House No|House #|Haus-Nr.|Haus Nr|Str. Nr.|Adr. 2|N. civico|Adress-Zusatz|Anschrift (Zusatz)|Lieferadresse 2|Addr2|Addr. 2|SHIPADDR2|Address Line Two|Secondary Address|2nd Address|Complément d'adresse|Complément d’adresse",
  state:
    'Delivery State|Ship To State|State/Province|Bundesland|Provincia|Shipping Province Name|State/Prov|State or Province|SHIPSTATE|Shipto State|State (2 letters)|State/Territory|Consignee State|Delivery State/County|Prov.|Prov. consegna|ST|St',
};

test.each(
  Object.entries(mistaken).flatMap(([column, headings]) => headings.split('|').map((one) => [one, column])),
)('"%s" stops a file without %s', (heading, column) => {
  expect(mistakenFor(heading)).toBe(column);
});

const ownColumns =
  'Order notes|Cost Centre|Requisition|Email|Price paid|Needed By|Department|GL code|Project|Approver|Vendor|SKU|Unit Price|Price per piece|Stock Qty|Qty available|Qty on hand|Min Qty|Qty per pack|Units of measure|Country of Origin|Billing Country|Supplier Country|Herkunftsland|Rechnungsland|Seller State|Approval State|Workflow state|Sales Region|Order State|Payment State|Status|Email Address 2|Phone 2|Codice interno|Total|Discount code|Quantity discount|Tax|Currency|Requester|my_reference|Island|Ship Via|Lagerbestand|Stückpreis|Preis pro Stück|Landline|Landed cost|Deadline|Refunded Quantity|Pack size|Warehouse|Order Line|Amount|Anzahl Tage|Anzahl Mahnungen|Anzahl Kinder|Quantity UOM|Quantity unit|Quantity Type|Qty UOM|Case Qty|Qty per case|Reorder Qty|Backorder Qty|Max Qty|Maximum order quantity|Mindestmenge|Kosten pro Stück|Value per piece|Software Suite|Nation brand|Stato|Item No|Order No.|House|Value|Due|Issue|Landesvorwahl|Fulfillment Status|Lineitem name|Vendor SKU';

test.each(ownColumns.split('|'))('"%s" is a column of its own', (heading) => {
  expect(mistakenFor(heading)).toBeUndefined();
});

test('headings are suggested for missing columns, none twice, and a name may be two', () => {
  const suggested = (columns: string[], ...headings: string[]) =>
    suggestedHeadings(columns, headings).map(({ heading, column }) => `${heading}=${column}`);
  expect(
    suggested(['product_url', 'max_price', 'name', 'city'], 'Product page', 'Max', 'Customer', 'Ort'),
  ).toEqual(['Product page=product_url', 'Max=max_price', 'Customer=name', 'Ort=city']);
  expect(suggested(['name'], 'Vorname', 'Nachname')).toEqual(['Vorname=first_name', 'Nachname=last_name']);
  expect(suggested(['address_line1', 'address_line2'], 'Street')).toEqual(['Street=address_line1']);
  expect(suggested(['product_url', 'metadata.team'], 'Notes')).toEqual([]);
});
