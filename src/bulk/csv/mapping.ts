/** A column that a heading can be assigned to. */
export type MappedColumn =
  | 'product_url'
  | 'max_price'
  | 'name'
  | 'first_name'
  | 'last_name'
  | 'address_line1'
  | 'address_line2'
  | 'city'
  | 'state'
  | 'postal_code'
  | 'phone_number'
  | 'country'
  | 'quantity';

/**
 * Optional columns. A file is valid without them, so nobody would notice if errand failed to recognize their headings
 * and lost the data.
 */
export const optionalColumns = ['quantity', 'address_line2', 'state', 'country'] as const;
type OptionalColumn = (typeof optionalColumns)[number];

/**
 * Match patterns: lowercase words without accents, the likeliest phrases first. All words of a phrase must occur. `*`
 * is a wildcard. A phrase that starts with `=` must match the whole heading.
 */
interface Likeness {
  readonly words: readonly string[];
  /** If one of these words occurs, the heading does not stand for the column. */
  readonly not?: string;
  /**
   * If this pattern matches, the heading does not stand for the column. Matched against the normalized words outside
   * parentheses.
   */
  readonly notAs?: RegExp;
}

const likenesses: Readonly<Record<MappedColumn, Likeness>> = {
  product_url: {
    words: [
      ...['product url', 'product link', 'item url', 'item link', 'url', 'link', 'href'],
      ...['product page', 'item page', 'produktlink', 'artikellink', 'produktseite', 'artikelseite'],
    ],
    not: 'image img photo picture tracking track',
  },
  max_price: {
    words: [
      ...['max price', 'price limit', 'ceiling', 'limit', 'budget', 'maximum', 'max'],
      ...['hochstpreis', 'preisgrenze', 'prezzo massimo', 'massimo'],
    ],
    not: '*quantity* qty menge days',
  },
  name: {
    words: [
      ...['full name', 'recipient name', 'name', 'recipient', 'attention', 'attn', 'consignee'],
      ...['empfanger', 'destinatario', 'nominativo'],
    ],
    not: 'product item company business user file shop store brand first last given family surname account',
  },
  first_name: { words: ['first name', 'given name', 'forename', 'firstname', 'vorname', '=nome'] },
  last_name: { words: ['last name', 'family name', 'surname', 'lastname', 'nachname', 'cognome'] },
  address_line1: {
    words: [
      ...['address line 1', 'address 1', 'street 1', 'street address', 'line 1', 'address', 'street'],
      ...['strasse', 'lieferadresse', 'anschrift', 'indirizzo', '=via'],
    ],
    not: '2 3 email mail ip web',
  },
  address_line2: {
    words: [
      ...['address line 2', 'address 2', 'street 2', 'line 2', 'apt', 'apartment', 'suite', '=ste', '=unit'],
      ...['addr* 2', 'addr* two', 'line two', 'second* addr*', '2 nd addr*', 'addr* continued', 'addr* cont'],
      ...[
        'unit number',
        'extra address',
        'addr* complement',
        'house number',
        'street number',
        '=flat',
        'flat number',
      ],
      ...['*adresszusatz', 'adress* zusatz', 'anschrift zusatz', '*adresse 2', 'adresszeile 2', 'strasse 2'],
      ...[
        'anschrift 2',
        'hausnummer',
        'hausnr',
        'haus number',
        'hsnr',
        'strasse number',
        'str number',
        'adr 2',
        'adresse complement*',
        '=zusatz',
      ],
      ...['indirizzo 2', '=interno', 'number civico', '=civico'],
      ...['complement *adresse', 'appartement', 'complemento direccion', 'direccion 2', '=complemento'],
    ],
    not: 'email mail ip web url phone order item product po note notes test software',
  },
  city: { words: ['city', 'town', 'locality', 'stadt', '=ort', 'citta', 'comune'] },
  state: {
    words: [
      ...['state code', 'state', 'province', 'prov', 'region', '=st'],
      ...['bundesland', 'lieferbundesland', 'bundesstaat', 'kanton', 'provincia', 'regione'],
    ],
    not: 'order payment status',
  },
  postal_code: {
    words: [
      ...['postal code', 'zip code', 'zip', 'zipcode', 'postcode', 'postal', 'post code'],
      ...['plz', 'postleitzahl', '=cap', 'codice postale'],
    ],
  },
  phone_number: {
    words: ['phone number', 'phone', 'telephone', 'mobile', 'tel', 'cell', 'telefon*', 'handy', 'cellulare'],
  },
  country: {
    words: [
      ...['country code', 'country', '*country*', 'ctry', 'cntry', 'nation'],
      ...['land', 'lander', 'landes', 'landkz', 'lkz', 'staat', 'lieferland', 'zielland', 'kundenland'],
      ...[
        'versandland',
        'empfangerland',
        'bestimmungsland',
        'adressland',
        'nazione',
        'paese',
        'pays',
        'pais',
      ],
    ],
    not: '*origin* ursprung* herkunft* *manufactur* made currency birth citizen* tax vat manager phone line brand who',
  },
  quantity: {
    words: [
      ...['quantity', 'qty', 'pieces', 'pcs', '*quantity*', 'qty*', '*qty', 'units', 'how many', '=piece'],
      ...['qnty', 'qnt', 'quant', 'q ty', 'number items', 'number units', 'number articles'],
      ...['item count', 'items count', 'unit count', 'piece count', '=count'],
      ...[
        'menge',
        '*menge',
        'mng',
        'anzahl',
        '*anzahl',
        'stuck',
        'stucke',
        'stk',
        'stck',
        'stuckzahl',
        '=anz',
      ],
      ...[
        'quantita',
        'qta',
        'q ta',
        'pezzi',
        'pz',
        'quantite',
        'qte',
        'cantidad',
        '=cant',
        'quantidade',
        'qtd*',
      ],
      ...['aantal', 'stuks', 'antal', 'antall', 'ilosc'],
    ],
    not: 'price cost preis* *preis prezzo costo kosten *stock* *bestand* lager* invent* availab* verfugbar* disponibil* hand mindest* hochst* maximal* minimal* moq reorder backorder* refund* cancel* canceled storniert* damaged weight gewicht peso measure uom business discount rabatt sconto break previous days tage mahnung* kinder',
    notAs:
      /\b(?:m(?:in|ax)(?:imum)? (?!per|pro|je)[a-z]|(?:per|pro|je|a) (?:pieces?|stuck|stc?k|units?|pcs?|pz|pezzo)\b|(?:case|box|carton|karton|pack|packag\w*|packung\w*|packmenge|confezione|ve)\b|(?:unit|type|typ|einheit)$)/,
  },
};

/** Words for the party that pays or sells, not for the recipient of the parcel. */
const others =
  'bill* seller* buyer* payer* sender* supplier* return* vendor* merchant* warehouse* invoice* from requester* requestor* rechnung* lieferant* absender* kaufer* verkaufer* besteller* fattur* fornitor* mittent* venditor* acquirent*';
const receiving =
  'ship shipto shipping delivery deliver deliverto recipient consignee dest to customer lieferung consegna spedizione livraison entrega';
/**
 * Words that may accompany the words for a state. Any other word means another kind of state, as in `Approval State` or
 * `Sales Region`.
 */
const ofAddress = `${receiving} address destination county code kurzel name two 2 letter letters abbreviation abbrev abbr territory iso us usa sigla stato di de of`;

type Matches = (word: string) => boolean;

function matcherOf(pattern: string): Matches {
  const text = withoutUmlauts(pattern.replaceAll('*', ''));
  if (!pattern.includes('*')) return (word) => word === text;
  if (!pattern.endsWith('*')) return (word) => word.endsWith(text);
  return pattern.startsWith('*') ? (word) => word.includes(text) : (word) => word.startsWith(text);
}

/** Matches a word against several patterns. */
function anyOf(patterns: string): Matches {
  const matchers = patterns.split(' ').map(matcherOf);
  return (word) => matchers.some((matches) => matches(word));
}

interface Phrase {
  readonly isWhole: boolean;
  readonly words: readonly Matches[];
}

const phraseOf = (text: string): Phrase => ({
  isWhole: text.startsWith('='),
  words: text.replace(/^=/, '').split(' ').map(matcherOf),
});

const compiled = (Object.entries(likenesses) as [MappedColumn, Likeness][]).map(
  ([column, { words, not = '', notAs }]) =>
    [column, { phrases: words.map(phraseOf), isOther: anyOf(not), notAs }] as const,
);
const forms = new Map(compiled);
const [isOthers, isReceiving, isOfAddress] = [anyOf(others), anyOf(receiving), anyOf(ofAddress)];

/**
 * Splits a heading into normalized words: `ShipTo_Zip2` gives ship, to, zip and 2; `Stückzahl` and `Stueckzahl` both
 * give stuckzahl.
 */
const wordsOf = (heading: string): string[] =>
  heading
    .slice(0, maxLength)
    .replace(/(\p{L})\((\p{Ll}{1,2})\)/gu, '$1$2')
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{L})(?=\d)/gu, '$1 ')
    .replace(/(\d)(?=\p{L})/gu, '$1 ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('#', ' number ')
    // `d'adresse` is two words, but `Q'ty` is one.
    .replace(/\b([dl])['\u2019]/g, '$1 ')
    .replace(/(\p{L})['\u2019](?=\p{L})/gu, '$1')
    .split(/[^\p{L}\d]+/u)
    .flatMap((word) => withoutUmlauts(word).replace(compound, '$1$3 $2$4').split(' '))
    .filter((word) => word !== '' && word !== 'or')
    .map((word) => (numberWords.has(word) ? 'number' : word));
const maxLength = 100;
/** Splits compounds, because `Länderkürzel` and `SHIPSTATE` are two words each. */
const compound =
  /^(?:(.{3,}?|land|landes|country|state)(kennzeichen|kennung|schlussel|kurzel|(?<=^(?:lande[rs]?|land|staat|country|state))(?:code|name))|(shipto|shipping|ship|deliverto|delivery|recipient|consignee|customer|dest)((?:state|prov|country|ctry|addr|street|apt|suite|unit|city|zip|postal|name|phone|qty|quantity).*))$/;
const numberWords = new Set(['no', 'n', 'nr', 'num', 'nbr', 'numero', 'nummer']);

/** Folds `ae`, `oe` and `ue` to the vowel without an umlaut. */
function withoutUmlauts(word: string): string {
  return word.replace(/([aou])e/g, '$1');
}

/** Score of how well a heading matches a column; 0 for no match. */
export function likenessOf(column: MappedColumn, heading: string): number {
  const words = wordsOf(heading);
  const form = forms.get(column);
  if (!form || words.some((word) => isOthers(word) || form.isOther(word))) return 0;
  if (form.notAs?.test(wordsOf(heading.slice(0, maxLength).replace(/\([^()]{3,}\)/g, ' ')).join(' ')))
    return 0;
  // `Ship To` without any other word means the recipient.
  if (column === 'name' && words.length > 0 && words.every(isReceiving)) return 5;
  const rank = form.phrases.findIndex(
    (phrase) =>
      phrase.words.every((matches) => words.some(matches)) &&
      (!phrase.isWhole || words.length === phrase.words.length),
  );
  if (rank < 0) return 0;
  return 100 - rank + (words.some(isReceiving) ? 2 : 0) - Math.min(words.length, 9) / 10;
}

/**
 * The optional column that a custom heading could be mistaken for; undefined if there is none. Stricter than the
 * suggestions in the dialog, because a match here rejects the file.
 */
export function mistakenFor(heading: string): OptionalColumn | undefined {
  const likely = optionalColumns.filter((column) => likenessOf(column, heading) > 0);
  return likely.find((column) => column !== 'state' || isStateOfAddress(heading));
}

const isStateOfAddress = (heading: string): boolean => {
  const isState = (word: string): boolean =>
    forms.get('state')?.phrases.some(({ words }) => words.some((matches) => matches(word))) ?? false;
  return wordsOf(heading).every((word) => isState(word) || isOfAddress(word));
};

/** Index of the heading that resembles a column best; undefined if no heading resembles it. */
export function likeliest(
  column: MappedColumn,
  headings: readonly string[],
  isFree: (index: number) => boolean,
): number | undefined {
  const scores = headings.map((heading, index) => (isFree(index) ? likenessOf(column, heading) : 0));
  const best = Math.max(0, ...scores);
  return best > 0 ? scores.indexOf(best) : undefined;
}

const isMapped = (column: string): column is MappedColumn => Object.hasOwn(likenesses, column);

/**
 * Suggests headings for the given columns. Uses no heading twice. The column for the name may get two headings, and a
 * column gets none if no heading resembles it.
 */
export function suggestedHeadings(
  columns: readonly string[],
  headings: readonly string[],
): { readonly heading: string; readonly column: string }[] {
  const taken = new Set<number>();
  const take = (column: MappedColumn) => {
    const index = likeliest(column, headings, (at) => !taken.has(at));
    if (index === undefined) return [];
    taken.add(index);
    return [{ heading: headings[index] ?? '', column }];
  };
  return columns.filter(isMapped).flatMap((column) => {
    const found = take(column);
    return found.length === 0 && column === 'name' ? [...take('first_name'), ...take('last_name')] : found;
  });
}

/** Whether a text resembles any column. */
export const looksLikeHeading = (text: string): boolean =>
  [...forms.keys()].some((column) => likenessOf(column, text) > 0);
