/** A column that a heading can be chosen for. */
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

/** Columns that a file can do without: nothing else says that one of them is lost. */
export const optionalColumns = ['quantity', 'address_line2', 'state', 'country'] as const;
type OptionalColumn = (typeof optionalColumns)[number];

/**
 * Words without accents in small letters, the likelier phrases first: each word of a phrase must be there, `*` stands for more
 * letters, and a phrase behind `=` is the whole heading.
 */
interface Likeness {
  readonly words: readonly string[];
  /** Words that make it something else. */
  readonly not?: string;
}

const likenesses: Readonly<Record<MappedColumn, Likeness>> = {
  product_url: {
    words: [
      ...['product url', 'product link', 'item url', 'item link', 'url', 'link', 'href'],
      ...['produktlink', 'artikellink'],
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
      ...['unit number', 'unit no', 'extra address', 'address extra', 'house number'],
      ...['adresszusatz', 'adresse 2', 'adresszeile 2', 'strasse 2', 'anschrift 2', 'hausnummer', 'hausnr'],
      ...['indirizzo 2', '=interno', 'numero civico', '=civico'],
    ],
    not: 'email mail ip web url phone order item product po note notes test',
  },
  city: { words: ['city', 'town', 'locality', 'stadt', '=ort', 'citta', 'comune'] },
  state: {
    words: ['state code', 'state', 'province', 'region', 'bundesland', 'kanton', 'provincia', 'regione'],
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
      ...['country code', 'country', '*country*', 'nation'],
      ...['land', 'landcode', 'landercode', 'landerkennzeichen', 'lkz', 'staat', 'lieferland', 'zielland'],
      ...['versandland', 'empfangerland', 'bestimmungsland', 'nazione', 'paese', '=stato', '=pays', '=pais'],
    ],
    not: '*origin* ursprung* herkunft* *manufactur* made currency birth citizen* tax vat manager phone line',
  },
  quantity: {
    words: [
      ...['quantity', 'qty', 'pieces', 'pcs', '*quantity*', 'qty*', '*qty', 'units', 'how many', '=piece'],
      ...['number of items', 'item count', 'unit count', 'piece count', '=count'],
      ...['menge', '*menge', 'anzahl', '*anzahl', 'stuck', 'stueck', 'stk', 'stuckzahl', '=anz', '=st'],
      ...['quantita', 'qta', 'q ta', 'pezzi', '=pz', 'quantite', 'qte', 'cantidad', 'aantal'],
    ],
    not: 'price cost preis* *preis prezzo costo per pro je pack* *stock* *bestand* lager* invent* availab* verfugbar* disponibil* hand min max minimum maximum mindest* hochst* moq refund* cancel* canceled storniert* damaged weight gewicht peso measure business discount rabatt sconto break previous days',
  },
};

/** Words that say that it is about the one who pays or sells, not about where the order goes. */
const others =
  'bill* seller* buyer* payer* sender* supplier* return* vendor* merchant* warehouse* invoice* from requester* requestor* rechnung* lieferant* absender* kaufer* verkaufer* besteller* fattur* fornitor* mittent* venditor* acquirent*';
const receiving = 'ship shipping delivery deliver recipient to customer lieferung consegna spedizione';
/** Words beside those of a state; with others it is the state of something else: `Approval State`, `Sales Region`. */
const ofAddress = `${receiving} address destination code name two letter abbreviation abbr us usa sigla`;

type Matches = (word: string) => boolean;

function matcherOf(pattern: string): Matches {
  const text = pattern.replaceAll('*', '');
  if (text === pattern) return (word) => word === text;
  if (!pattern.endsWith('*')) return (word) => word.endsWith(text);
  return pattern.startsWith('*') ? (word) => word.includes(text) : (word) => word.startsWith(text);
}

/** Whether a word is one of several. */
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
  ([column, { words, not = '' }]) => [column, { phrases: words.map(phraseOf), isOther: anyOf(not) }] as const,
);
const forms = new Map(compiled);
const [isOthers, isReceiving, isOfAddress] = [anyOf(others), anyOf(receiving), anyOf(ofAddress)];

/** The words of a heading: `ShipTo_Zip2` has ship, to, zip and 2, `Stückzahl` has stuckzahl. */
const wordsOf = (heading: string): string[] =>
  heading
    .slice(0, longest)
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{L})(?=\d)/gu, '$1 ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '');
const longest = 100;

/** How much a heading looks like a column; 0 for not at all. */
export function likenessOf(column: MappedColumn, heading: string): number {
  const words = wordsOf(heading);
  const form = forms.get(column);
  if (!form || words.some((word) => isOthers(word) || form.isOther(word))) return 0;
  // `Ship To` alone is who receives it.
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
 * The optional column that a heading is to be taken for, where it is no column's own; undefined for none. What a person is only
 * offered may look like more than what stops a file.
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

/** The heading, by its place among all, that looks most like a column; undefined where none does. */
export function likeliest(
  column: MappedColumn,
  headings: readonly string[],
  isFree: (index: number) => boolean,
): number | undefined {
  const scores = headings.map((heading, index) => (isFree(index) ? likenessOf(column, heading) : 0));
  const most = Math.max(0, ...scores);
  return most > 0 ? scores.indexOf(most) : undefined;
}

/** Whether a text looks like any column. */
export const looksLikeHeading = (text: string): boolean =>
  [...forms.keys()].some((column) => likenessOf(column, text) > 0);
