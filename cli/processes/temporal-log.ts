import { existsSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { messageOf } from '../../contract/errors';
import { asksAgain, loadsAgain, newsField } from '../../contract/news';
import { runIdOf } from '../../contract/names';
import type { Logger } from '../../host/logger';

type Write = (level: string, message: string, meta: Readonly<Record<string, unknown>>) => void;

const ofTemporal =
  /^(?:sdkComponent|namespace|taskQueue|workflowId|runId|workflowType|activityId|activityType|isLocal|taskToken|workflowRunId|updateId|updateName)$/;
const taskFailed = 'Failed to process Workflow Activation';

/** Messages of runs have the stack of the project's code. Temporal's own lines become debug details. */
export function temporalLog(logger: Logger): Write {
  return (level, message, meta) => {
    const { [newsField]: event, stack, ...rest } = meta;
    if (event !== undefined) {
      const fields = Object.entries(rest).filter(([name, value]) => !ofTemporal.test(name) && value !== undefined && name !== 'run');
      const lines = typeof stack === 'string' ? ownFrames(stack) : '';
      return logger.log(level === 'WARN' ? 'warn' : 'info', message, {
        event,
        ...(rest['run'] === undefined ? {} : { run: rest['run'] }),
        ...Object.fromEntries(fields),
        ...(lines === '' ? {} : { stack: lines }),
      });
    }
    const why = messageOf(meta['error']);
    if (message === taskFailed && typeof meta['workflowId'] === 'string' && why !== asksAgain && why !== loadsAgain)
      logger.error(`run ${runIdOf(meta['workflowId'])} is stuck: ${why}`, { event: 'stuck', code: 'run-stuck' });
    logger.debug(message, { ...meta, temporal: level });
  };
}

const compiled = resolve(__dirname, '..', '..');
const root = resolve(compiled, '..');
const rooms = 'contract|kernel|memory|middleware|workflows|activities|host|client|worker|service|cli|testing';
const ours = new RegExp(`^(?:dist${sep === '\\' ? '\\\\' : '/'})?(?:${rooms})[\\\\/]`);

export function ownFrames(stack: string): string {
  return stack
    .split('\n')
    .filter(
      (line) => /^\s+at /.test(line) && isOfProject(/[(\s]((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^()]*?):\d+(?::\d+)?\)?$/.exec(line)?.[1]),
    )
    .map((line) => line.trim())
    .join('\n');
}

function isOfProject(path: string | undefined): boolean {
  if (path === undefined || path.includes('node_modules') || isOursMisplaced(path)) return false;
  return !path.startsWith(root + sep) || !ours.test(path.slice(root.length + 1));
}

/** Source maps of the sandbox place Holdfast's files below the working directory. */
function isOursMisplaced(path: string): boolean {
  if (existsSync(path)) return false;
  const parts = path
    .replace(/^file:\/\//, '')
    .replace(/\.[jt]s$/, '')
    .split(/[\\/]/);
  return parts.some((part, at) => {
    const inRoom = rooms.split('|').includes(part) ? join(compiled, ...parts.slice(at)) : '';
    return existsSync(`${inRoom}.js`) || existsSync(`${inRoom}.ts`);
  });
}
