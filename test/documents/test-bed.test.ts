import { afterAll, describe, expect, test } from 'vitest';
import { packedProject } from '../support/packed.ts';
import { blocksOf, pages } from './markdown.ts';

const page = pages.find(({ name }) => name === 'docs/test-bed.md');
const project = packedProject(['vitest']);
afterAll(() => project.remove());

describe('docs/test-bed.md', () => {
  const blocks = page ? blocksOf(page, 'ts').map((block, index) => ({ number: index + 1, block })) : [];

  test('has examples', () => {
    expect(blocks.length).toBeGreaterThan(3);
  });

  test.each(blocks)('example $number compiles and runs with the packed package', ({ block }) => {
    const isVitest = block.includes("from 'errand/vitest'");
    expect(project.compile({ 'example.test.ts': block })).toBe('');
    const { code, stdout, stderr } = isVitest
      ? project.run('node_modules/vitest/vitest.mjs', {}, ['run'])
      : project.run('example.test.js');
    expect([code, stderr], stdout).toEqual([0, '']);
    expect(stdout).not.toBe('');
  });
});
