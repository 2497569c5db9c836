import { join } from 'node:path';
import { ownFrames, temporalLog } from '../../../cli/processes/temporal-log';
import { asksAgain, loadsAgain } from '../../../contract/news';
import type { LogLevel } from '../../../host/logger';
import { createLogger } from '../../../host/logger';

function logAt(level: LogLevel): { readonly write: ReturnType<typeof temporalLog>; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({ level, format: 'json', write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  return { write: temporalLog(logger), lines };
}

const ofSdk = { sdkComponent: 'worker', namespace: 'default', taskQueue: 'holdfast', workflowId: 'main/r-1', runId: 'x' };
const start = { ...ofSdk, holdfast: 'run-start', run: 'r-1', agent: 'desk' };

describe("Temporal's log in the log of a process", () => {
  it('has what runs say, without what Temporal adds', () => {
    const { write, lines } = logAt('info');
    const told = { run: 'r-1', agent: 'desk', time: expect.any(String) as string };
    write('DEBUG', 'run r-1 (desk) starts', start);
    write('WARN', 'run r-1: it failed', { ...start, holdfast: 'threw', attempt: 2, stack: `Error: no\n    at pay (/srv/tools.ts:3:1)` });
    expect(lines).toEqual([
      { ...told, level: 'info', message: 'run r-1 (desk) starts', event: 'run-start' },
      { ...told, level: 'warn', message: 'run r-1: it failed', event: 'threw', attempt: 2, stack: 'at pay (/srv/tools.ts:3:1)' },
    ]);
  });

  it.each<readonly [LogLevel, readonly string[]]>([
    ['debug', ['start', 'failed', 'of the SDK', 'of the core']],
    ['info', ['start', 'failed']],
    ['warn', ['failed']],
    ['silent', []],
  ])('at %s has %j', (level, said) => {
    const { write, lines } = logAt(level);
    write('DEBUG', 'start', start);
    write('WARN', 'failed', { ...start, holdfast: 'threw' });
    write('INFO', 'of the SDK', ofSdk);
    write('ERROR', 'of the core', { sdkComponent: 'core' });
    expect(lines.map(({ message }) => message)).toEqual(said);
  });

  it('has a run whose code fails in its task, as an error of its own', () => {
    const { write, lines } = logAt('warn');
    write('ERROR', 'Failed to process Workflow Activation', { ...ofSdk, error: new Error('boom') });
    expect(lines).toMatchObject([{ level: 'error', message: 'run r-1 is stuck: boom', event: 'stuck', code: 'run-stuck' }]);
  });

  it.each([asksAgain, loadsAgain])('says nothing of a run that goes on by itself: %s', (message) => {
    const { write, lines } = logAt('warn');
    write('ERROR', 'Failed to process Workflow Activation', { ...ofSdk, error: new Error(message) });
    expect(lines).toEqual([]);
  });
});

describe('the frames of a project', () => {
  it('are those that are neither of Node, nor of a package, nor ours', () => {
    const ours = join(__dirname, '..', '..', '..', '..');
    const stack = [
      'Error: no such order',
      '    at /srv/desk/tools.ts:9:13',
      '    at async Object.execute (/srv/desk/tools.ts:12:3)',
      '    at errorOfActivity (/srv/workflows/activity-failures.ts:12:0)',
      '    at mine (/srv/desk/workflows/refunds.ts:12:0)',
      '    at node:internal/process/task_queues:95:5',
      '    at runTool (/srv/desk/node_modules/holdfast/dist/activities/tools/run-tool.js:3:4)',
      `    at executed (${join(ours, 'dist', 'activities', 'x.js')}:1:2)`,
      `    at lookup (${join(ours, 'examples', 'desk', 'tools.ts')}:1:2)`,
      '    at file:///srv/desk/agents.ts:4:1',
      '    at new Promise (<anonymous>)',
    ].join('\n');
    expect(ownFrames(stack).split('\n')).toEqual([
      'at /srv/desk/tools.ts:9:13',
      'at async Object.execute (/srv/desk/tools.ts:12:3)',
      'at mine (/srv/desk/workflows/refunds.ts:12:0)',
      `at lookup (${join(ours, 'examples', 'desk', 'tools.ts')}:1:2)`,
      'at file:///srv/desk/agents.ts:4:1',
    ]);
    expect(ownFrames('Error: none\n    at node:fs:1:1')).toBe('');
  });
});
