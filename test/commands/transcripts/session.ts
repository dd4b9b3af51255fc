import { fileURLToPath } from 'node:url';
import { parseDuration } from '../../../src/platform/duration.ts';
import { shell } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { fixedText, serviceName } from './fixed-text.ts';
import { withNamedGlobalOptions } from './global-options.ts';
import { readTranscript, showCommand } from './transcript.ts';

const preload = fileURLToPath(new URL('./fixed-process.cjs', import.meta.url));
const start = Date.parse('2026-03-01T12:00:00Z');

/**
 * Runs the commands of a transcript, in a workspace and against a sandbox of its own.
 * @returns the transcript as it is now
 */
export async function runTranscript(text: string): Promise<string> {
  const service = await TestService.start({
    seed: 7,
    now: start,
    config: { shopUrl: `${serviceName}/shop` },
  });
  const workspace = makeWorkspace({
    ERRAND_BASE_URL: service.baseUrl,
    ERRAND_API_KEY: service.key,
    SHOP: service.product(''),
    NODE_OPTIONS: `--require ${preload}`,
    NO_COLOR: '1',
    TERM: 'dumb',
  });
  const lines: string[] = [];
  let now = start;
  try {
    for (const [step, part] of readTranscript(text).entries()) {
      if (part.kind === 'wait') {
        const ms = parseDuration(part.text.slice(2), 'the wait');
        now += ms;
        service.pass(ms);
      }
      if (part.kind !== 'command') {
        lines.push(part.text);
        continue;
      }
      Object.assign(workspace.environment, { GOLDEN_NOW: String(now), GOLDEN_STEP: String(step) });
      const { code, stdout, stderr } = await shell(workspace, part.line);
      if (part.variable) workspace.environment[part.variable] = stdout.trim();
      const fixed = (printed: string): string =>
        fixedText(printed, { baseUrl: service.baseUrl, folder: workspace.folder });
      const shown = {
        stdout: part.variable ? '' : withNamedGlobalOptions(fixed(stdout)),
        stderr: fixed(stderr),
        code,
      };
      lines.push(...showCommand(part.text, shown));
    }
  } finally {
    workspace.remove();
    await service.stop();
  }
  if (service.bugs.length > 0) throw new AggregateError(service.bugs, 'the sandbox has a bug');
  return `${lines.join('\n')}\n`;
}
