import { z } from 'zod';
import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import { HoldfastError } from '../../contract/errors';
import type { RunEvent } from '../../contract/events';
import { listStatuses } from '../../contract/events';
import type { Interrupt } from '../../contract/interrupts';
import { misfitOf } from '../../contract/interrupts';
import type { Json } from '../../contract/messages/messages';
import { answerIn } from '../a2a/answers';
import { decisionIn } from '../projection/answers';
import { parse } from '../http/parse-request';
import { json, roles, shortText } from '../http/schemas';
import type { ShownTool } from './agent-tool';
import { settled } from './answering';
import type { McpCaller } from './caller';
import { inTime } from './caller';
import { jsonIn } from './forms';
import type { ToolResult } from './results';
import { jsonResult, runResult, shownRun } from './results';

interface OwnTool {
  readonly shown: ShownTool;
  readonly act: (given: unknown, caller: McpCaller) => Promise<ToolResult>;
}

function ownTool<Given>(
  told: Pick<ShownTool, 'name' | 'description'> & { readonly schema: z.ZodType<Given>; readonly isReadOnly: boolean },
  act: (given: Given, caller: McpCaller) => Promise<ToolResult>,
): readonly [string, OwnTool] {
  const { name, description, schema, isReadOnly } = told;
  const inputSchema = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as ShownTool['inputSchema'];
  return [
    name,
    {
      shown: { name, description, inputSchema, annotations: { readOnlyHint: isReadOnly } },
      act: (given, caller) => act(parse(schema, given, 'The arguments'), caller),
    },
  ];
}

const runId = z.string().describe('The id of the run.');
const ListArguments = z.strictObject({
  agent: z.string().optional(),
  status: z.enum(listStatuses).optional(),
  tag: z.string().optional(),
  since: z.string().optional().describe('Runs since a time, such as 2026-11-23T08:00:00Z or 2h.'),
  limit: z.int().min(1).max(100).optional().describe('Default: 20.'),
  after: z.string().optional().describe('`next` of the page before.'),
});
const EventsArguments = z.strictObject({
  runId,
  from: z.int().min(0).optional().describe('`next` of the page before. Default: 0.'),
  limit: z.int().min(1).max(500).optional().describe('Default: 100.'),
});
const AnswerArguments = z.strictObject({
  runId,
  interruptId: z.string(),
  answer: json.describe(
    'As the answerSchema of the interrupt says. An approval takes {"approved": true} or {"approved": false, "reason": "…"}.',
  ),
  inputHash: shortText.optional().describe('Of the approval that a person saw: changed arguments are refused.'),
  by: shortText.optional().describe('Who decides, for a service without keys and logins.'),
  roles: roles.optional(),
});

const mostBytes = 256 * 1024;

async function eventsOf({ runId: id, from = 0, limit = 100 }: z.infer<typeof EventsArguments>, caller: McpCaller): Promise<ToolResult> {
  const run = caller.client.run(id);
  const { nextOffset, status } = await inTime(caller, () => run.view());
  if (from > nextOffset)
    throw new HoldfastError('request-invalid', `from is ${from}, and the next event of this run has the offset ${nextOffset}.`);
  const events: RunEvent[] = [];
  let bytes = 0;
  if (from < nextOffset)
    for await (const event of run.events({ from, deltas: false, signal: caller.signal })) {
      bytes += JSON.stringify(event).length;
      if (events.length > 0 && bytes > mostBytes) break;
      events.push(event);
      if (events.length === limit || event.offset >= nextOffset - 1) break;
    }
  const next = (events.at(-1)?.offset ?? from - 1) + 1;
  return jsonResult({ runId: id, status, events, next, more: next < nextOffset });
}

async function answer(
  { runId: id, interruptId, answer: sent, ...who }: z.infer<typeof AnswerArguments>,
  caller: McpCaller,
): Promise<ToolResult> {
  const run = caller.client.run(id);
  const { interrupts } = await inTime(caller, () => run.view());
  const open = interrupts.find((interrupt) => interrupt.id === interruptId);
  const said = unpacked(open, sent);
  const isDecision = open === undefined && isRecord(said) && 'approved' in said;
  const given = open !== undefined ? answerIn(open, said) : isDecision ? decisionIn(interruptId, said) : said;
  await inTime(caller, () => run.resume(interruptId, given, defined(who)));
  return runResult(await settled(run, caller), caller, true);
}

/** Some clients send JSON as a text. */
function unpacked(open: Interrupt | undefined, sent: Json): Json {
  if (open !== undefined) return misfitOf(open, sent) === undefined ? sent : jsonIn(sent);
  const read = jsonIn(sent);
  return isRecord(read) ? read : sent;
}

export const ownTools: ReadonlyMap<string, OwnTool> = new Map([
  ownTool(
    {
      name: 'list_runs',
      description: 'Lists runs of agents, newest first, with what they wait for.',
      schema: ListArguments,
      isReadOnly: true,
    },
    async ({ limit = 20, ...filters }, caller) => {
      const { runs, more, next } = await inTime(caller, () => caller.client.list({ ...defined(filters), limit }));
      return jsonResult({ runs: runs.map(({ id, ...run }) => ({ runId: id, ...run })), more, ...defined({ next }) });
    },
  ),
  ownTool(
    {
      name: 'get_run',
      description: 'Shows how a run stands: its output, what it waits for, or why it failed.',
      schema: z.strictObject({ runId }),
      isReadOnly: true,
    },
    async ({ runId: id }, caller) => {
      const view = await inTime(caller, () => caller.client.run(id).view());
      const { startedAt, closedAt, startedBy, usage } = view;
      return jsonResult({ ...(await shownRun(view, caller)), ...defined({ startedAt, closedAt, startedBy }), usage });
    },
  ),
  ownTool(
    {
      name: 'events',
      description: 'Reads the log of a run: messages, calls with results, decisions and errors.',
      schema: EventsArguments,
      isReadOnly: true,
    },
    eventsOf,
  ),
  ownTool(
    {
      name: 'answer_interrupt',
      description: 'Answers what a run waits for, as a person decided, and waits for the result.',
      schema: AnswerArguments,
      isReadOnly: false,
    },
    answer,
  ),
]);
