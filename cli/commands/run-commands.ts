import { defined } from '../../contract/defined';
import type { Json } from '../../contract/messages/messages';
import { parsedJson } from '../json-flags';
import { HoldfastError, codeOf, messageOf } from '../../contract/errors';
import { inputMissing, jobWanted } from '../agent-input';
import { attendRun } from '../attend-run';
import { exitCodes, told } from '../output';
import type { CancelMode } from '../../contract/cancel';
import type { CancelRequestBody, GoOnRequest } from '../../client/http/index';
import type { FoundService } from '../found-service';
import { commandLine } from '../../contract/shell-words';
import type { Terminal } from '../terminal';

export interface RunFlags {
  readonly id?: string;
  readonly model?: string;
  readonly jsonInput?: boolean;
  readonly options?: string;
  readonly values?: string;
  readonly settings?: string;
  readonly tag?: readonly string[];
  readonly deadline?: string;
  readonly detach?: boolean;
  readonly by?: string;
}

export async function startRun(
  service: FoundService,
  terminal: Terminal,
  { agent, words, ...flags }: RunFlags & { readonly agent: string; readonly words: readonly string[] },
): Promise<number> {
  if (words.length === 0) throw inputMissing(agent, await service.agents(), service.flags);
  const { id, model, tag: tags, deadline, by } = flags;
  const input = words.join(' ');
  // The service refuses JSON that is not an object.
  const jsonOf = (name: 'options' | 'values' | 'settings'): Readonly<Record<string, Json>> | undefined => {
    const text = flags[name];
    return text === undefined ? undefined : (parsedJson(text, `--${name}`) as Readonly<Record<string, Json>>);
  };
  const parsed = { options: jsonOf('options'), values: jsonOf('values'), settings: jsonOf('settings') };
  const asked = {
    agent,
    input: flags.jsonInput === true ? parsedJson(input, 'The input') : input,
    ...defined({ id, model, deadline, tags, ...parsed, by }),
  };
  const run = await service.start(asked).catch(async (error: unknown) => {
    if (codeOf(error) !== 'input-invalid' || flags.jsonInput === true) throw error;
    const hint = jobWanted(agent, input, await service.agents().catch(() => []), service.flags);
    throw new HoldfastError('input-invalid', `${messageOf(error)}${hint}`, { cause: error });
  });
  terminal.write(terminal.paint.dim(`${run.isNew ? 'run' : 'found run'} ${run.id} (${run.agent})`));
  if (run.ignored !== undefined && run.ignored.length > 0)
    terminal.write(
      terminal.paint.yellow(`ignored: ${run.ignored.join(', ')} (the run was started with others, and the first start counts)`),
    );
  if (flags.detach === true) return told(terminal, `Follow it with: ${commandLine('events', run.id, '--follow', ...service.flags)}`);
  return attendRun(service, terminal, { id: run.id, from: 0, ...defined({ by }) });
}

export interface CancelFlags extends Pick<CancelRequestBody, 'within' | 'reason' | 'by'> {
  readonly afterModel?: boolean;
  readonly afterTools?: boolean;
  readonly onlyHere?: boolean;
}

export async function cancelRun(service: FoundService, terminal: Terminal, id: string, flags: CancelFlags = {}): Promise<number> {
  const { afterModel, afterTools, onlyHere, within, reason, by } = flags;
  const modes: readonly CancelMode[] = [
    ...(afterModel === true ? (['after-model'] as const) : []),
    ...(afterTools === true ? (['after-tools'] as const) : []),
  ];
  const { status } = await service.view(id);
  const mode = modes.length === 0 ? undefined : modes;
  await service.cancel(id, defined({ mode, within, recursive: onlyHere === true ? false : undefined, reason, by }));
  const terminate = `It is stuck, and its code may never hear of it. To end it as it is: ${commandLine('terminate', id, ...service.flags)}`;
  told(terminal, `The run ${id} is asked to stop${modes.length === 0 ? '' : ' at the next safe point'}.`);
  return status === 'stuck' ? told(terminal, terminate) : exitCodes.done;
}

export async function resumeRun(service: FoundService, terminal: Terminal, id: string, flags: GoOnRequest): Promise<number> {
  await service.resume(id, flags);
  return told(terminal, `The run ${id} goes on. Follow it with: ${commandLine('events', id, '--follow', ...service.flags)}`);
}

export async function upgradeRun(service: FoundService, terminal: Terminal, id: string): Promise<number> {
  const { build, moved } = await service.upgrade(id);
  return told(
    terminal,
    moved ? `The run ${id} goes on under the newest build, ${build}.` : `The run ${id} is under the newest build, ${build}.`,
  );
}

export async function terminateRun(
  service: FoundService,
  terminal: Terminal,
  id: string,
  { reason }: { reason?: string },
): Promise<number> {
  await service.terminate(id, reason);
  return told(terminal, `The run ${id} is ended.`);
}
