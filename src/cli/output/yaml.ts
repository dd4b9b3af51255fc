import { Document, type ScalarTag, visit } from 'yaml';
import type { Format } from '../../format/result.ts';
import { invisibleAstral, invisibleBmp } from '../../platform/redact/safe-text.ts';

const hidden = new RegExp(`[\\x00-\\x08\\x0b-\\x1f${invisibleBmp}${invisibleAstral}]`, 'u');
const allHidden = new RegExp(`[${invisibleBmp}${invisibleAstral}]`, 'gu');

/**
 * Formats a sequence of records. Quotes strings that an older parser would read as another type (`no`, `2026-01-01`).
 */
export function yamlFormat(project: (row: unknown) => unknown): Format {
  return {
    row: (value) => toYaml([project(value)]),
    end: (count) => (count === 0 ? '[]\n' : ''),
    whole: (value) => toYaml(project(value)),
  };
}

/** YAML with control and invisible characters escaped in double-quoted strings. */
function toYaml(value: unknown): string {
  const document = new Document(value ?? null, {
    aliasDuplicateObjects: false,
    compat: 'yaml-1.1',
    customTags: (tags) => [inDigits, ...tags],
  });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && hidden.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0, blockQuote: false }).replace(allHidden, escaped);
}

/** Writes plain decimal digits instead of exponent notation, because files that errand reads require them. */
const inDigits: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => typeof value === 'number' && /e/.test(String(value)),
  // Never matches when YAML is parsed, because this tag is only for writing.
  test: /(?!)/,
  resolve: Number,
  stringify: ({ value }) => {
    const [, sign = '', digit = '', more = '', exponent] =
      /^(-?)(\d)(?:\.(\d{1,20}))?e(.{1,5})$/.exec(String(value)) ?? [];
    const point = Number(exponent);
    return point < 0
      ? `${sign}0.${'0'.repeat(-point - 1)}${digit}${more}`
      : `${sign}${digit}${more.padEnd(point, '0')}`;
  },
};

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}
