/** A shorter secret would be found everywhere. */
const shortest = 6;

/**
 * Patterns that find a secret however a URL, a form, JSON or base64 writes it. Each character of a pattern stands for
 * itself and its escapes, so that no mixture of them gets through, and none of the patterns can backtrack far.
 */
export function encodedForms(secret: string): RegExp[] {
  if (secret.length < shortest) return [];
  return [new RegExp(Array.from(secret, tolerant).join(''), 'g'), ...base64Forms(secret)];
}

/** The three ways in which a text can stand within a longer base64 text, without the characters its neighbours shape. */
function base64Forms(secret: string): RegExp[] {
  return [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const sure = shifted
      .toString('base64')
      .slice(Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6));
    return sure.length < shortest ? [] : [new RegExp(Array.from(sure, base64Character).join(''), 'g')];
  });
}

/** base64url writes two characters differently, and a URL escapes what base64 has beside letters and digits. */
function base64Character(character: string): string {
  if (character === '+' || character === '-') return '(?:\\+|-|%2[Bb])';
  if (character === '/' || character === '_') return '(?:/|_|%2[Ff])';
  return character;
}

/** One character as itself, percent-encoded (once or more often), as JSON escapes it, or a space as a form's plus. */
function tolerant(character: string): string {
  const itself = character.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  const percent = Array.from(Buffer.from(character), (byte) => `%(?:25)*${hex(byte, 2)}`).join('');
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const escaped = units.map((unit) => `\\\\u${hex(unit, 4)}`).join('');
  const short = shortEscapes[character];
  const forms = [percent, escaped, ...(short === undefined ? [] : [short]), itself];
  return `(?:${forms.join('|')})`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  ' ': '\\+',
  '"': '\\\\"',
  '\\': '\\\\\\\\',
  '/': '\\\\/',
  '\n': '\\\\n',
  '\r': '\\\\r',
  '\t': '\\\\t',
  '\b': '\\\\b',
  '\f': '\\\\f',
};

/** A number in hexadecimal, in either case. */
function hex(value: number, digits: number): string {
  return Array.from(value.toString(16).padStart(digits, '0'), (digit) =>
    /[a-f]/.test(digit) ? `[${digit}${digit.toUpperCase()}]` : digit,
  ).join('');
}
