/** The three ways in which a text can stand within a longer base64 text, without the characters its neighbours shape. */
const base64Texts = (text: string): string[] =>
  [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const end = Math.floor((shifted.length * 8) / 6);
    return shifted.toString('base64').slice(Math.ceil((offset * 8) / 6), end);
  });

/** A stretch of a secret as long as this is as good as the secret to whoever guesses the rest. */
const stretch = 12;
/** A shorter secret has no part that is worth finding; a longer one is no key, and its parts are text like any. */
const [minLength, maxLength] = [20, 256];

/** Every run of characters that betrays a part of a secret: of itself in any case, and of its base64 forms. */
function stretchesOf(secret: string): string[] {
  if (secret.length < minLength || secret.length > maxLength) return [];
  const cases = [secret, secret.toLowerCase(), secret.toUpperCase()];
  const written = [secret, ...cases.flatMap(base64Texts)].map(folded);
  return written.flatMap((text) =>
    Array.from({ length: Math.max(0, text.length - stretch + 1) }, (_, at) => text.slice(at, at + stretch)),
  );
}

/** One case, and one alphabet for base64 and base64url. Only ASCII, so that each character keeps its place. */
const folded = (text: string): string =>
  text
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll('-', '+')
    .replaceAll('_', '/');

/** Replaces what is covered by stretches; the time is linear in the text. */
function withoutStretches(text: string, stretches: ReadonlySet<string>, instead: string): string {
  if (stretches.size === 0 || text.length < stretch) return text;
  const { plain, startOf } = unescaped(text);
  const searched = folded(plain);
  let kept = '';
  let done = 0;
  for (let at = 0; at + stretch <= searched.length; at += 1) {
    if (!stretches.has(searched.slice(at, at + stretch))) continue;
    let end = at + stretch;
    while (end < searched.length && stretches.has(searched.slice(end - stretch + 1, end + 1))) end += 1;
    kept += text.slice(done, startOf(at)) + instead;
    done = startOf(end);
    at = end - 1;
  }
  return done === 0 ? text : kept + text.slice(done);
}

/** A character written by its number in a URL (encoded once or more often), in JSON or in HTML. */
const numbered =
  /%(?:25)*([0-9a-f]{2})|\\{1,8}u00([0-9a-f]{2})|&(?:amp;)*#(?:x0{0,4}([0-9a-f]{2})|0{0,4}(\d{2,3}));/gi;

/** A text without such escapes, and where each of its characters starts in the text as it was given. */
function unescaped(text: string): { readonly plain: string; readonly startOf: (at: number) => number } {
  if (!/[%\\&]/.test(text)) return { plain: text, startOf: (at) => at };
  const starts: number[] = [];
  let plain = '';
  let done = 0;
  const copy = (until: number): void => {
    for (let at = done; at < until; at += 1) starts.push(at);
    plain += text.slice(done, until);
    done = until;
  };
  for (const match of text.matchAll(numbered)) {
    copy(match.index);
    const [whole, inUrl, inJson, inHtml, decimal = ''] = match;
    const code = Number.parseInt(inUrl ?? inJson ?? inHtml ?? decimal, decimal === '' ? 16 : 10);
    starts.push(match.index);
    plain += String.fromCharCode(code);
    done = match.index + whole.length;
  }
  copy(text.length);
  return { plain, startOf: (at) => starts[at] ?? text.length };
}

/** A shorter secret is found only where it stands alone: within words it would be found everywhere. */
const shortestWithinWords = 6;
const minSecretLength = 3;

/** One way to write a secret. A pattern takes milliseconds to compile, so it is made for the first text that may need it. */
interface Form {
  /** How it stands in a text without escapes and line breaks; undefined where that is no single text. */
  readonly literal?: string;
  /** Line breaks may interrupt base64; every other form may be escaped. */
  readonly isBase64?: boolean;
  readonly pattern: () => RegExp;
}

const lineBreaks = /\r?\n/g;

/** Replaces each form. */
function withoutForms(text: string, forms: readonly Form[], instead: string): string {
  const isEscaped = /[%\\&+]/.test(text);
  const unbroken = text.replace(lineBreaks, '');
  return forms.reduce((rest, { literal, isBase64, pattern }) => {
    if (literal === undefined) return rest.replace(pattern(), instead);
    const needsPattern = isBase64 ? unbroken !== text && unbroken.includes(literal) : isEscaped;
    return needsPattern ? rest.replace(pattern(), instead) : rest.replaceAll(literal, instead);
  }, text);
}

function onDemand(make: () => RegExp): () => RegExp {
  let pattern: RegExp | undefined;
  return () => {
    pattern ??= make();
    return pattern;
  };
}

/**
 * Patterns that find a secret however a URL, a form, JSON, HTML or base64 writes it. Each character of a pattern stands
 * for itself and its escapes, so that no mixture of them gets through, and none of the patterns can backtrack far.
 */
function encodedForms(secret: string): Form[] {
  if (secret.length < minSecretLength) return [];
  const plain = (): string => (secret.match(/\\+|./gsu) ?? []).map(tolerant).join('');
  if (secret.length < shortestWithinWords)
    return [{ pattern: onDemand(() => new RegExp(`(?<![\\p{L}\\p{N}])${plain()}(?![\\p{L}\\p{N}])`, 'gu')) }];
  // Base64 is of a text that may have been written as JSON or as a part of a URL before.
  const spelled = new Set([secret, JSON.stringify(secret).slice(1, -1), urlText(secret)]);
  return [
    { literal: secret, pattern: onDemand(() => new RegExp(plain(), 'g')) },
    ...[...spelled].flatMap(base64Forms),
  ];
}

/** Half of a surrogate pair cannot stand in a URL. */
const urlText = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A mail or a certificate breaks long base64 into lines. */
const lineBreak = '(?:\\r?\\n)?';

function base64Forms(text: string): Form[] {
  return base64Texts(text).flatMap((sure) => {
    if (sure.length < shortestWithinWords) return [];
    const pattern = onDemand(() => new RegExp(Array.from(sure, base64Character).join(lineBreak), 'g'));
    return [/[+/]/.test(sure) ? { pattern } : { literal: sure, isBase64: true, pattern }];
  });
}

/** base64url writes two characters differently, and a URL escapes what base64 has beside letters and digits. */
function base64Character(character: string): string {
  if (character === '+' || character === '-') return '(?:\\+|-|%2[Bb])';
  if (character === '/' || character === '_') return '(?:/|_|%2[Ff])';
  return character;
}

/** JSON within JSON doubles its backslashes each time. */
const backslashes = '\\\\{1,8}';

/** One character, or a run of backslashes, as itself and as it is written elsewhere. */
function tolerant(character: string): string {
  if (character.startsWith('\\')) return tolerantBackslashes(character.length);
  const itself = character.replace(/[$^.*+?()[\]{}|/-]/g, '\\$&');
  const form = formEscapes[character];
  return `(?:${[...escapes(character), ...(form === undefined ? [] : [form]), itself].join('|')})`;
}

/** A run is taken as one: of its backslashes each could be escaped or not, and trying all that takes for ever. */
const tolerantBackslashes = (count: number): string =>
  `(?:(?:${escapes('\\').join('|')}){${count}}|\\\\{${count},${8 * count}})`;

/** A character percent-encoded (once or more often), by its number as in JSON, and by its number as in HTML. */
function escapes(character: string): string[] {
  const percent = Array.from(Buffer.from(character), (byte) => `%(?:25)*${hex(byte, 2)}`).join('');
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const json = units.map((unit) => `${backslashes}u${hex(unit, 4)}`).join('');
  const code = character.codePointAt(0) ?? 0;
  return [percent, json, `&(?:amp;)*#(?:0*${code}|[xX]0*${hex(code, 1)});`];
}

/** What one notation has a short form for. */
const formEscapes: Readonly<Record<string, string>> = {
  ' ': '\\+',
  '"': `${backslashes}"|&(?:amp;)*quot;`,
  '&': '&(?:amp;)+',
  '<': '&(?:amp;)*lt;',
  '>': '&(?:amp;)*gt;',
  "'": '&(?:amp;)*apos;',
  '/': `${backslashes}/`,
  '\n': `${backslashes}n`,
  '\r': `${backslashes}r`,
  '\t': `${backslashes}t`,
  '\b': `${backslashes}b`,
  '\f': `${backslashes}f`,
};

/** A number in hexadecimal, in either case. */
function hex(value: number, digits: number): string {
  return Array.from(value.toString(16).padStart(digits, '0'), (digit) =>
    /[a-f]/.test(digit) ? `[${digit}${digit.toUpperCase()}]` : digit,
  ).join('');
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Replaces secrets in what is shown or kept. */
interface Redactor {
  /** From now on these are replaced wherever they stand, in every form. */
  remember(secrets: readonly (string | undefined)[]): void;
  /** The secrets that are remembered, and nothing else. */
  known(text: string): string;
  /** Also what is a secret by where it stands: a field, a header, a parameter, the form of a key. */
  text(text: string): string;
  /** The beginning of a text that may be long. A secret that the cut goes through is not shown in part. */
  start(text: string, length: number): string;
  headers(headers: Headers): Record<string, string>;
  /** A JSON value: fields that hold secrets by their name, and secrets within every other text. */
  value(value: unknown): unknown;
}

export const redacted = '[redacted]';

/** Headers whose whole value is a secret: those of the service, and what a gateway before it may want. */
export const secretHeaders =
  /^(?!idempotency-key$|x-idempotency-key$|sec-websocket-)(?:.*[-_])?(?:(?:proxy-?)?authorization|cookie|password|secret|token|(?:api)?key|signature|credential|payment-receipt)$/i;
/** Fields whose whole value is a secret, in JSON and in forms, also of services that are not this one. */
const secretFields = [
  '[\\w-]*(?:password|passphrase|secret|token|api[_-]?key|private[_-]?key|credentials?)',
  '[\\w-]*(?:password|passphrase)[_-]?(?:confirm(?:ation|ed)?|again|repeat(?:ed)?|new|old|current)',
  'device_code',
  'cvv',
  'cvc',
];
export const secretField = new RegExp(`^(?:${secretFields.join('|')})$`, 'i');
/** At the start of a form too, where no sign stands before it. */
const fieldInForm = new RegExp(`(?<![\\w-])((?:${secretFields.join('|')})=)[^&#\\s"'<>\\\\]+`, 'gi');
const fieldInJson = new RegExp(`("(?:${secretFields.join('|')})"\\s*:\\s*")(?:[^"\\\\]|\\\\[^])*`, 'gi');

/** Query parameters that sign a URL or open what it names. */
const secretParameters = [
  ...secretFields,
  'signature',
  'sig',
  'token',
  'key',
  'auth',
  'hmac',
  'x-amz-signature',
  'x-amz-credential',
  'x-amz-security-token',
  'x-goog-signature',
  'x-goog-credential',
];
export const secretParameter = new RegExp(`^(?:${secretParameters.join('|')})$`, 'i');
const parameterInText = new RegExp(
  `([?&;](?:amp;)?(?:${secretParameters.join('|')})=)[^&#\\s"'<>\\\\]+`,
  'gi',
);
/** Keys of this service, whoever they belong to: `<prefix>_test_…`, `<prefix>_live_…`. */
const anyKey = /(?<![A-Za-z0-9])([A-Za-z0-9]{1,32}_(?:test|live)_)[A-Za-z0-9_-]{16,}/g;
const credentialsInUrl = /([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#"'<>]{1,500}@/gi;
const schemeAndCredential = /\b(Bearer|Basic|Payment)(\s+)[A-Za-z0-9._~+/=-]{16,}/gi;

/** Longer than a secret, however it is written. */
const longestSecret = 4096;

/**
 * Makes a redactor that knows nothing yet but where secrets stand. Each secret that it is given is found in every form
 * in which it may turn up: as it is, URL-encoded, escaped in JSON or HTML, base64 within a longer text; of a key also each
 * long part, in any case.
 */
export function createRedactor(): Redactor {
  const remembered = new Set<string>();
  const parts = new Set<string>();
  let forms: readonly Form[] | undefined;
  // Most runs check no text: the patterns are built for the first.
  const build = (): readonly Form[] => {
    parts.clear();
    for (const part of [...remembered].flatMap(stretchesOf)) parts.add(part);
    // The longest first: one secret may be the beginning of another.
    return [...remembered].sort((one, other) => other.length - one.length).flatMap(encodedForms);
  };
  const known = (text: string): string => {
    forms ??= build();
    const rest = withoutForms(text, forms, redacted);
    return withoutStretches(rest, parts, redacted);
  };
  const text = (given: string): string =>
    known(given)
      .replace(fieldInJson, `$1${redacted}`)
      .replace(fieldInForm, `$1${redacted}`)
      .replace(parameterInText, `$1${redacted}`)
      .replace(credentialsInUrl, `$1${redacted}@`)
      .replace(schemeAndCredential, `$1$2${redacted}`)
      .replace(anyKey, `$1${redacted}`);
  return {
    remember(secrets) {
      const given = secrets.flatMap(withWords);
      for (const secret of given) {
        const isNew = !remembered.delete(secret);
        remembered.add(secret);
        if (!isNew) continue;
        forms = undefined;
        const [oldest] = remembered;
        const most = Math.max(mostRemembered, given.length);
        if (remembered.size > most && oldest !== undefined) remembered.delete(oldest);
      }
    },
    known,
    text,
    start(given, length) {
      const whole = given.length <= length + longestSecret;
      const shown = text(whole ? given : given.slice(0, length + longestSecret));
      return (whole ? shown : shown.slice(0, -longestSecret)).slice(0, length);
    },
    headers: (headers) => redactHeaders(headers, text),
    value: (value) => redactValue(value, text),
  };
}

/** A process that runs for months forgets those that it used the longest ago: with 10,000 an error would take 3 s. */
const mostRemembered = 2_000;

/** A secret of more words is a text. */
const mostWords = 32;

/** A service that takes a request apart repeats a secret with spaces in it word by word; short ones are words like any. */
const withWords = (secret: string | undefined): string[] =>
  secret === undefined
    ? []
    : [secret, ...secret.split(/\s+/, mostWords).filter((word) => word.length >= shortestWithinWords)];

/** Of this process: what it shows on stderr, and every error of its own, goes through it. */
export const redactor = createRedactor();

function redactHeaders(headers: Headers, text: Redactor['text']): Record<string, string> {
  const shown = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    if (secretHeaders.test(name)) return [[name, redacted]];
    return [[name, text(typeof value === 'string' ? value : value.join(', '))]];
  });
  return Object.fromEntries(shown);
}

function redactValue(value: unknown, text: Redactor['text']): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((inner) => redactValue(inner, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      text(name),
      secretField.test(name) && inner !== null && typeof inner !== 'boolean'
        ? redacted
        : redactValue(inner, text),
    ]),
  );
}

const email = /[^\s<>"'(),;:@]{1,100}@[^\s<>"'(),;:@]{3,255}/g;
const manyDigits = /(?<![\w$€£.,])\+?\(?\d[\d\s()./-]{5,}\d(?!\w)/g;
const isoDate = /^\d{4}-\d{2}-\d{2}$/;

/** What somebody typed and is kept for long, without secrets, email addresses and what may be a phone number; a date stays. */
export const withoutPrivate = (text: string): string =>
  redactor
    .text(text)
    .replace(email, redacted)
    .replace(manyDigits, (found) =>
      isoDate.test(found) || found.replace(/\D/g, '').length < 7 ? found : redacted,
    );
