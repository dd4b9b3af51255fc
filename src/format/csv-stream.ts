import { defuse, otherDelimiters } from '../platform/csv-cell.ts';

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/**
 * The service's own CSV as it comes, with `'` before the cells that a spreadsheet would run, also one that splits cells
 * at a semicolon or a tab where no quotes stand around them. All else stays byte for byte, and no more than the end of a
 * chunk is held.
 */
export async function* neutraliseCsv(chunks: Chunks): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const cells = new CellScanner();
  for await (const chunk of chunks) {
    yield cells.scan(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }), false);
  }
  yield cells.scan(decoder.decode(), true);
}

/** Reads CSV in pieces and knows where cells begin. */
class CellScanner {
  #held = '';
  #place: 'start' | 'plain' | 'split' | 'quoted' = 'start';

  /** @param last whether nothing follows, so that nothing need be held back. */
  scan(piece: string, last: boolean): string {
    const text = this.#held + piece;
    let out = '';
    let copied = 0;
    let at = 0;
    while (at < text.length) {
      const to = this.#step(text, at, last);
      if (to === undefined) break;
      if (to.prefixed) {
        const start = text.startsWith('"', at) ? at + 1 : at;
        out += `${text.slice(copied, start)}'`;
        copied = start;
      }
      at = to.end;
    }
    this.#held = text.slice(at);
    return out + text.slice(copied, at);
  }

  /** Where the next part ends; undefined where that depends on what has not come yet. */
  #step(text: string, at: number, last: boolean): { end: number; prefixed: boolean } | undefined {
    if (this.#place === 'start') return this.#begin(text, at, last);
    if (this.#place === 'plain') return this.#plain(text, at);
    if (this.#place === 'split') return this.#split(text, at);
    return this.#quoted(text, at, last);
  }

  #begin(text: string, at: number, last: boolean): { end: number; prefixed: boolean } | undefined {
    if (isWordCharacter(text.charCodeAt(at))) {
      this.#place = 'plain';
      return this.#plain(text, at);
    }
    if (/[,\r\n\ufeff]/.test(text.charAt(at))) return { end: at + 1, prefixed: false };
    if (otherDelimiters.test(text.charAt(at))) return this.#split(text, at);
    const quote = text.charAt(at) === '"' ? 1 : 0;
    beginning.lastIndex = at + quote;
    const found = beginning.exec(text)?.[0] ?? '';
    const end = at + quote + found.length;
    // A sign alone, or a number that may go on, cannot be decided before what follows it is known.
    if (end + quote >= text.length && !last) return undefined;
    const endsHere = end >= text.length || (quote ? /^"(?!")/ : /^[,\r\n]/).test(text.slice(end, end + 2));
    this.#place = quote ? 'quoted' : 'plain';
    const checked = endsHere ? found : `${found}…`;
    return { end, prefixed: defuse(checked) !== checked };
  }

  #plain(text: string, at: number): { end: number; prefixed: boolean } {
    ending.lastIndex = at;
    const found = ending.exec(text);
    if (!found) return { end: text.length, prefixed: false };
    const isSplit = otherDelimiters.test(found[0]);
    this.#place = isSplit ? 'split' : 'start';
    return { end: found.index + (isSplit ? 1 : 0), prefixed: false };
  }

  /** A cell only for who splits at other delimiters, so that quotes mean nothing in it. */
  #split(text: string, at: number): { end: number; prefixed: boolean } {
    this.#place = 'plain';
    const isSign = !cellEnd.test(text.charAt(at)) && defuse(text.charAt(at)) !== text.charAt(at);
    return { end: at, prefixed: isSign };
  }

  #quoted(text: string, at: number, last: boolean): { end: number; prefixed: boolean } | undefined {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { end: text.length, prefixed: false };
    if (quote + 1 >= text.length && !last) return quote > at ? { end: quote, prefixed: false } : undefined;
    if (text.charAt(quote + 1) === '"') return { end: quote + 2, prefixed: false };
    this.#place = 'plain';
    return { end: quote + 1, prefixed: false };
  }
}

/** A letter or digit of ASCII, as most cells begin: none of them is run. */
const isWordCharacter = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);

/** The start of a cell as far as it decides: a number, else one character; a longer number is decided by its start. */
const beginning = /-\d{0,40}(?:\.\d{0,40})?|[^"]/uy;
const ending = /[,\r\n;\t|]/g;
const cellEnd = /[,\r\n]/;
