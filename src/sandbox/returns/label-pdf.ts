const [width, height] = [288, 432];

/** A PDF of one page, 4 by 6 inches, with a line of text for each of `lines`. */
export function labelPdf(lines: readonly string[]): Uint8Array {
  const shown = lines.map((line, index) => `${index === 0 ? '' : 'T* '}(${escaped(line)}) Tj`);
  const page = `BT /F1 11 Tf 16 TL 24 ${height - 48} Td ${shown.join(' ')} ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Length ${page.length} >>\nstream\n${page}\nendstream`,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  // Each entry of the table of offsets is 20 bytes, its line end of two included.
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${entries}`;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}${table}${trailer}`, 'latin1');
}

/** Text within the parentheses of a PDF string; what the font cannot show becomes a question mark. */
const escaped = (line: string): string => line.replace(/[^ -~]/g, '?').replace(/[\\()]/g, '\\$&');
