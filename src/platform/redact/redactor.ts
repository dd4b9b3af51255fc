/**
 * The three forms that a text can have as part of a longer base64 text. Base64 characters that also depend on the
 * neighbouring text are left out.
 */
const base64Texts = (text: string): string[] =>
  [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
    const end = Math.floor((shifted.length * 8) / 6);
    return shifted.toString('base64').slice(Math.ceil((offset * 8) / 6), end);
  });

/** Length from which a part of a secret is redacted. A part this long would help to guess the rest. */
const substringLength = 12;
/**
 * Minimum and maximum length of the secrets of which parts are redacted. A shorter secret has no part worth hiding. A
 * longer secret is not a key, and its parts are ordinary text.
 */
const [minLength, maxLength] = [20, 256];

/**
 * All substrings that reveal part of a secret. They are taken from the secret itself, in any case, and from its base64
 * forms.
 */
function substringsOf(secret: string): string[] {
  if (secret.length < minLength || secret.length > maxLength) return [];
  const cases = [secret, secret.toLowerCase(), secret.toUpperCase()];
  const written = [secret, ...cases.flatMap(base64Texts)].map(folded);
  return written.flatMap((text) =>
    Array.from({ length: Math.max(0, text.length - substringLength + 1) }, (_, at) =>
      text.slice(at, at + substringLength),
    ),
  );
}

/**
 * Ignores case and converts the base64url alphabet to that of base64. Changes only ASCII, so that positions stay the
 * same.
 */
const folded = (text: string): string =>
  text
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll('-', '+')
    .replaceAll('_', '/');

/** Replaces all text that the given substrings cover, in linear time. */
function withoutSubstrings(text: string, substrings: ReadonlySet<string>, instead: string): string {
  if (substrings.size === 0 || text.length < substringLength) return text;
  const { plain, startOf } = unescaped(text);
  const searched = folded(plain);
  let result = '';
  let done = 0;
  for (let at = 0; at + substringLength <= searched.length; at += 1) {
    if (!substrings.has(searched.slice(at, at + substringLength))) continue;
    let end = at + substringLength;
    while (end < searched.length && substrings.has(searched.slice(end - substringLength + 1, end + 1)))
      end += 1;
    result += text.slice(done, startOf(at)) + instead;
    done = startOf(end);
    at = end - 1;
  }
  return done === 0 ? text : result + text.slice(done);
}

/** Matches a character that is escaped by its code: in a URL (once or several times), in JSON or in HTML. */
const numbered =
  /%(?:25)*([0-9a-f]{2})|\\{1,8}u00([0-9a-f]{2})|&(?:amp;)*#(?:x0{0,4}([0-9a-f]{2})|0{0,4}(\d{2,3}));/gi;

/**
 * Decodes the escapes that match `numbered`. For each character of the result, also returns its position in the
 * original text.
 */
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

/**
 * Minimum length of a secret that is also matched inside words. A shorter secret would match in many places, so it
 * matches only as a whole word.
 */
const minLengthWithinWords = 6;
const minSecretLength = 3;

/**
 * One encoding of a secret. The pattern is built when it is first needed, because compiling a pattern takes
 * milliseconds.
 */
interface Form {
  /**
   * The text of this form after escapes are decoded and line breaks removed. Undefined if there is no single such text.
   */
  readonly literal?: string;
  /** Whether the form is base64, which may contain line breaks. Any other form may contain escapes. */
  readonly isBase64?: boolean;
  readonly pattern: () => RegExp;
}

const lineBreaks = /\r?\n/g;

/** Replaces all of the given forms of secrets in a text. */
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
 * Builds patterns that match a secret in a URL, a form, JSON, HTML or base64. Each character matches itself and its
 * escapes, so a mix of encodings matches too. No pattern can backtrack far.
 */
function encodedForms(secret: string): Form[] {
  if (secret.length < minSecretLength) return [];
  const plain = (): string => (secret.match(/\\+|./gsu) ?? []).map(tolerant).join('');
  if (secret.length < minLengthWithinWords)
    return [{ pattern: onDemand(() => new RegExp(`(?<![\\p{L}\\p{N}])${plain()}(?![\\p{L}\\p{N}])`, 'gu')) }];
  // A text within base64 may itself have been encoded first, as JSON or for a URL.
  const spelled = new Set([secret, JSON.stringify(secret).slice(1, -1), urlText(secret)]);
  return [
    { literal: secret, pattern: onDemand(() => new RegExp(plain(), 'g')) },
    ...[...spelled].flatMap(base64Forms),
  ];
}

/** A lone surrogate cannot be URL-encoded. */
const urlText = (text: string): string => encodeURIComponent(text.toWellFormed());

/** Mails and certificates break long base64 into lines. */
const lineBreak = '(?:\\r?\\n)?';

function base64Forms(text: string): Form[] {
  return base64Texts(text).flatMap((sure) => {
    if (sure.length < minLengthWithinWords) return [];
    const pattern = onDemand(() => new RegExp(Array.from(sure, base64Character).join(lineBreak), 'g'));
    return [/[+/]/.test(sure) ? { pattern } : { literal: sure, isBase64: true, pattern }];
  });
}

/** The alphabet of base64url has two other characters, and in a URL the symbols of base64 are escaped. */
function base64Character(character: string): string {
  if (character === '+' || character === '-') return '(?:\\+|-|%2[Bb])';
  if (character === '/' || character === '_') return '(?:/|_|%2[Ff])';
  return character;
}

/** Nested JSON doubles its backslashes at each level. */
const backslashes = '\\\\{1,8}';

/** Pattern for a single character or for a run of backslashes. It also matches the escaped forms. */
function tolerant(character: string): string {
  if (character.startsWith('\\')) return tolerantBackslashes(character.length);
  const itself = character.replace(/[$^.*+?()[\]{}|/-]/g, '\\$&');
  const form = formEscapes[character];
  return `(?:${[...escapes(character), ...(form === undefined ? [] : [form]), itself].join('|')})`;
}

/**
 * Matches a run of backslashes as a whole. Trying each backslash both escaped and unescaped would take exponential
 * time.
 */
const tolerantBackslashes = (count: number): string =>
  `(?:(?:${escapes('\\').join('|')}){${count}}|\\\\{${count},${8 * count}})`;

/** Escapes of a character: percent-encoding (once or several times), the code in JSON, and the code in HTML. */
function escapes(character: string): string[] {
  const percent = Array.from(Buffer.from(character), (byte) => `%(?:25)*${hex(byte, 2)}`).join('');
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const json = units.map((unit) => `${backslashes}u${hex(unit, 4)}`).join('');
  const code = character.codePointAt(0) ?? 0;
  return [percent, json, `&(?:amp;)*#(?:0*${code}|[xX]0*${hex(code, 1)});`];
}

/** Short escapes that exist in only one notation. */
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

/** Pattern for a hexadecimal number, in upper or lower case. */
function hex(value: number, digits: number): string {
  return Array.from(value.toString(16).padStart(digits, '0'), (digit) =>
    /[a-f]/.test(digit) ? `[${digit}${digit.toUpperCase()}]` : digit,
  ).join('');
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Redacts secrets in output and stored text. */
interface Redactor {
  /** Registers secrets to be replaced wherever they occur, in every form. */
  remember(secrets: readonly (string | undefined)[]): void;
  /** Forgets all secrets. Called before another run in the same process. */
  reset(): void;
  /** Replaces only registered secrets. */
  known(text: string): string;
  /**
   * Replaces registered secrets. Also replaces secrets that are recognized by their context (a field, a header, a
   * parameter) or by the format of a key.
   */
  text(text: string): string;
  /**
   * Returns the start of a text that may be long. If a secret continues beyond the cut, no part of the secret is shown.
   */
  start(text: string, length: number): string;
  headers(headers: Headers): Record<string, string>;
  /** Redacts a JSON value: the values of fields with secret names, and secrets in any other text. */
  value(value: unknown): unknown;
}

export const redacted = '[redacted]';

/** Headers whose whole value is secret: those of the service, and those that a gateway may require. */
export const secretHeaders =
  /^(?!idempotency-key$|x-idempotency-key$|sec-websocket-)(?:.*[-_])?(?:(?:proxy-?)?authorization|cookie|password|secret|token|(?:api)?key|signature|credential|payment-receipt)$/i;
/** Names of fields whose whole value is secret, in JSON and in forms. They include names that other services use. */
const secretFields = [
  '[\\w-]*(?:password|passphrase|secret|token|api[_-]?key|private[_-]?key|credentials?)',
  '[\\w-]*(?:password|passphrase)[_-]?(?:confirm(?:ation|ed)?|again|repeat(?:ed)?|new|old|current)',
  'device_code',
  'cvv',
  'cvc',
];
export const secretField = new RegExp(`^(?:${secretFields.join('|')})$`, 'i');
/** Matches a field in a form. The field may be at the start of the form, where there is no separator before it. */
const fieldInForm = new RegExp(`(?<![\\w-])((?:${secretFields.join('|')})=)[^&#\\s"'<>\\\\]+`, 'gi');
const fieldInJson = new RegExp(`("(?:${secretFields.join('|')})"\\s*:\\s*")(?:[^"\\\\]|\\\\[^])*`, 'gi');

/** Query parameters that sign a URL or grant access to it. */
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
/** Matches API keys of this service, no matter who owns them: `<prefix>_test_…`, `<prefix>_live_…`. */
const anyKey = /(?<![A-Za-z0-9])([A-Za-z0-9]{1,32}_(?:test|live)_)[A-Za-z0-9_-]{16,}/g;
const credentialsInUrl = /([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#"'<>]{1,500}@/gi;
const schemeAndCredential = /\b(Bearer|Basic|Payment)(\s+)[A-Za-z0-9._~+/=-]{16,}/gi;

/** Maximum length of a secret in any encoding. */
const maxSecretLength = 4096;

/**
 * Creates a redactor without any registered secrets. It finds each registered secret in every form: plain, URL-encoded,
 * escaped in JSON or HTML, or base64 within a longer text. If the secret is a key, it also finds every long part of the
 * key, in upper or lower case.
 */
export function createRedactor(): Redactor {
  const remembered = new Set<string>();
  const parts = new Set<string>();
  let forms: readonly Form[] | undefined;
  // Built on first use, because most runs check no text.
  const build = (): readonly Form[] => {
    parts.clear();
    for (const part of [...remembered].flatMap(substringsOf)) parts.add(part);
    // Put the longest first, because one secret may be the beginning of another.
    return [...remembered].sort((one, other) => other.length - one.length).flatMap(encodedForms);
  };
  const known = (text: string): string => {
    forms ??= build();
    const rest = withoutForms(text, forms, redacted);
    return withoutSubstrings(rest, parts, redacted);
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
        const limit = Math.max(maxRemembered, given.length);
        if (remembered.size > limit && oldest !== undefined) remembered.delete(oldest);
      }
    },
    reset() {
      remembered.clear();
      forms = undefined;
    },
    known,
    text,
    start(given, length) {
      const whole = given.length <= length + maxSecretLength;
      const shown = text(whole ? given : given.slice(0, length + maxSecretLength));
      return (whole ? shown : shown.slice(0, -maxSecretLength)).slice(0, length);
    },
    headers: (headers) => redactHeaders(headers, text),
    value: (value) => redactValue(value, text),
  };
}

/**
 * Maximum number of secrets to remember. A long-lived process forgets those that it has not used for the longest time.
 * With 10,000 secrets, a single error would take 3 s.
 */
const maxRemembered = 2_000;

/** If a secret has more words than this, it is ordinary text. */
const maxWords = 32;

/**
 * The words of a secret. A service that tokenizes a request may echo a secret word by word. Short words are too common
 * to redact.
 */
const withWords = (secret: string | undefined): string[] =>
  secret === undefined
    ? []
    : [secret, ...secret.split(/\s+/, maxWords).filter((word) => word.length >= minLengthWithinWords)];

/** The redactor of this process. All output on stderr and all of errand's own errors pass through it. */
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

/**
 * Redacts text that a user typed before the text is stored for long: secrets, email addresses and possible phone
 * numbers. Dates stay.
 */
export const withoutPrivate = (text: string): string =>
  redactor
    .text(text)
    .replace(email, redacted)
    .replace(manyDigits, (found) =>
      isoDate.test(found) || found.replace(/\D/g, '').length < 7 ? found : redacted,
    );
