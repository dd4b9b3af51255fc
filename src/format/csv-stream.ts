import { escapeFormula, otherDelimiters } from '../platform/csv-cell.ts';

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/**
 * Streams the service's CSV, and prefixes `'` to cells that a spreadsheet would execute. Such cells may also arise when
 * a spreadsheet splits an unquoted cell at a semicolon or tab. Everything else stays the same byte for byte. Buffers no
 * more than the end of a chunk.
 */
export async function* neutraliseCsv(chunks: Chunks): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const cells = new CellScanner();
  for await (const chunk of chunks) {
    yield cells.scan(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }), false);
  }
  yield cells.scan(decoder.decode(), true);
}

/** Scans CSV in chunks and tracks where cells begin. */
class CellScanner {
  #held = '';
  #state: 'start' | 'plain' | 'split' | 'quoted' = 'start';

  /** @param last tells whether this is the final chunk. If it is, nothing is buffered any more. */
  scan(chunk: string, last: boolean): string {
    const text = this.#held + chunk;
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

  /** End of the next token; undefined if only the next chunk can tell. */
  #step(text: string, at: number, last: boolean): { end: number; prefixed: boolean } | undefined {
    if (this.#state === 'start') return this.#begin(text, at, last);
    if (this.#state === 'plain') return this.#plain(text, at);
    if (this.#state === 'split') return this.#split(text, at);
    return this.#quoted(text, at, last);
  }

  #begin(text: string, at: number, last: boolean): { end: number; prefixed: boolean } | undefined {
    if (isWordCharacter(text.charCodeAt(at))) {
      this.#state = 'plain';
      return this.#plain(text, at);
    }
    if (/[,\r\n\ufeff]/.test(text.charAt(at))) return { end: at + 1, prefixed: false };
    if (otherDelimiters.test(text.charAt(at))) return this.#split(text, at);
    const quote = text.charAt(at) === '"' ? 1 : 0;
    cellStart.lastIndex = at + quote;
    const found = cellStart.exec(text)?.[0] ?? '';
    const end = at + quote + found.length;
    // A lone sign, or a number that may continue, depends on the text that follows it.
    if (end + quote >= text.length && !last) return undefined;
    const endsHere = end >= text.length || (quote ? /^"(?!")/ : /^[,\r\n]/).test(text.slice(end, end + 2));
    this.#state = quote ? 'quoted' : 'plain';
    const checked = endsHere ? found : `${found}…`;
    return { end, prefixed: escapeFormula(checked) !== checked };
  }

  #plain(text: string, at: number): { end: number; prefixed: boolean } {
    ending.lastIndex = at;
    const found = ending.exec(text);
    if (!found) return { end: text.length, prefixed: false };
    const isSplit = otherDelimiters.test(found[0]);
    this.#state = isSplit ? 'split' : 'start';
    return { end: found.index + (isSplit ? 1 : 0), prefixed: false };
  }

  /**
   * Starts a cell that exists only for programs that split at other delimiters. Quotes have no meaning in such a cell.
   */
  #split(text: string, at: number): { end: number; prefixed: boolean } {
    this.#state = 'plain';
    const isFormulaStart =
      !cellEnd.test(text.charAt(at)) && escapeFormula(text.charAt(at)) !== text.charAt(at);
    return { end: at, prefixed: isFormulaStart };
  }

  #quoted(text: string, at: number, last: boolean): { end: number; prefixed: boolean } | undefined {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { end: text.length, prefixed: false };
    if (quote + 1 >= text.length && !last) return quote > at ? { end: quote, prefixed: false } : undefined;
    if (text.charAt(quote + 1) === '"') return { end: quote + 2, prefixed: false };
    this.#state = 'plain';
    return { end: quote + 1, prefixed: false };
  }
}

/**
 * Whether a character is an ASCII letter or digit. Most cells start with one, and a spreadsheet never executes such a
 * cell.
 */
const isWordCharacter = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);

/**
 * Matches the start of a cell, as far as needed to decide whether a spreadsheet executes the cell: a number, or one
 * character. Of a long number, the first digits are enough.
 */
const cellStart = /-\d{0,40}(?:\.\d{0,40})?|[^"]/uy;
const ending = /[,\r\n;\t|]/g;
const cellEnd = /[,\r\n]/;
