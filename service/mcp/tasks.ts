import type { ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRecord } from '../../contract/check';
import { HoldfastError } from '../../contract/errors';
import type { RunView } from '../../contract/events';
import { unless } from '../projection/answers';
import { giveAnswers, questionsFor } from './answering';
import type { McpCaller } from './caller';
import { inTime } from './caller';
import { formOf } from './forms';
import { runResult } from './results';

/** The extension has no code in the SDK. The id of a task is the id of its run, and the keys of its questions are ids of interrupts. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

const pollIntervalMs = 1000;

type TaskFields = Readonly<Record<string, unknown>>;

export function newTask(view: RunView): TaskFields {
  return { resultType: 'task', ...factsOf(view), status: 'working' };
}

function factsOf({ id, startedAt, closedAt }: RunView): TaskFields {
  const now = new Date().toISOString();
  return { taskId: id, createdAt: startedAt ?? now, lastUpdatedAt: closedAt ?? now, ttlMs: null, pollIntervalMs };
}

async function taskOf(view: RunView, caller: McpCaller): Promise<TaskFields> {
  const facts = factsOf(view);
  if (view.status === 'cancelled') return { ...facts, status: 'cancelled' };
  // A failed run is a result with an error, because the status `failed` is for errors of the protocol.
  if (view.status === 'completed' || view.status === 'failed')
    return { ...facts, status: 'completed', result: await runResult(view, caller) };
  const questions = questionsFor(caller, view);
  if (questions.length > 0)
    return { ...facts, status: 'input_required', inputRequests: Object.fromEntries(questions.map((one) => [one.id, formOf(one)])) };
  const [told] = (await runResult(view, caller)).content;
  return { ...facts, status: 'working', statusMessage: told?.text };
}

const Params = z.looseObject({ taskId: z.string() });

type TaskMethod = (taskId: string, caller: McpCaller, ctx: ServerContext) => Promise<TaskFields>;

const methods: Readonly<Record<string, TaskMethod>> = {
  'tasks/get': async (id, caller) => taskOf(await inTime(caller, () => caller.client.run(id).view()), caller),
  'tasks/update': async (id, caller, { mcpReq }) => {
    const { misfits } = await giveAnswers(caller.client.run(id), caller, mcpReq.inputResponses);
    const [misfit] = misfits.values();
    if (misfit !== undefined) throw new HoldfastError('answer-invalid', misfit);
    return {};
  },
  'tasks/cancel': async (id, caller) => {
    await inTime(caller, () => caller.client.run(id).cancel()).catch(unless('run-ended'));
    return {};
  },
};

interface TaskServer {
  setRequestHandler(
    method: string,
    schemas: { readonly params: typeof Params },
    handler: (params: z.infer<typeof Params>, ctx: ServerContext) => Promise<TaskFields>,
  ): void;
}

export function serveTasks(server: TaskServer, caller: McpCaller, answered: (act: () => Promise<TaskFields>) => Promise<TaskFields>): void {
  for (const [name, method] of Object.entries(methods))
    server.setRequestHandler(name, { params: Params }, ({ taskId }, ctx) =>
      answered(() => {
        if (!takesTasks(caller, ctx))
          throw new caller.sdk.MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } });
        return method(taskId, caller, ctx);
      }),
    );
}

export function takesTasks({ sdk }: McpCaller, ctx: ServerContext): boolean {
  const { extensions } = capabilitiesIn(sdk, ctx);
  return isRecord(extensions) && isRecord(extensions[tasksExtension]);
}

export function takesForms({ sdk }: McpCaller, ctx: ServerContext): boolean {
  const { elicitation } = capabilitiesIn(sdk, ctx);
  return isRecord(elicitation) && (elicitation['form'] !== undefined || elicitation['url'] === undefined);
}

function capabilitiesIn(sdk: McpCaller['sdk'], { mcpReq }: ServerContext): Readonly<Record<string, unknown>> {
  const { [sdk.CLIENT_CAPABILITIES_META_KEY]: declared } = (mcpReq.envelope ?? {}) as Readonly<Record<string, unknown>>;
  return isRecord(declared) ? declared : {};
}
