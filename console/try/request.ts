import { isRecord } from '../../contract/check';
import { defined } from '../../contract/defined';
import type { Json } from '../../contract/messages/messages';
import type { ListedAgent, MessageRequest, StartRequest } from '../../client/http/index';

export const emptyDraft = {
  id: '',
  tags: '',
  by: '',
  deadline: '',
  startDelay: '',
  model: '',
  temperature: '',
  maxOutputTokens: '',
  values: '',
  settings: '',
  options: '',
  isWhole: false,
  runPendingToolCalls: false,
};

export type StartDraft = Readonly<typeof emptyDraft>;

export type DraftField = 'values' | 'settings' | 'options' | 'temperature' | 'maxOutputTokens';
type Problem = 'not-json' | 'no-object' | 'no-number';
export type DraftProblems = Readonly<Partial<Record<DraftField, Problem>>>;

export function agentToTry(agents: readonly ListedAgent[]): ListedAgent | undefined {
  return agents.find(({ example }) => example !== undefined) ?? agents.find(({ takesJob }) => !takesJob) ?? agents[0];
}

type Common = Omit<StartRequest, 'agent' | 'input' | 'id'>;

function commonOf(draft: StartDraft): { readonly common: Common; readonly problems: DraftProblems } {
  const problems: Partial<Record<DraftField, Problem>> = {};
  const objectIn = (field: 'values' | 'settings' | 'options'): Record<string, Json> | undefined => {
    const text = draft[field].trim();
    if (text === '') return undefined;
    try {
      const value: unknown = JSON.parse(text);
      if (isRecord(value) && !Array.isArray(value)) return value as Record<string, Json>;
      problems[field] = 'no-object';
    } catch {
      problems[field] = 'not-json';
    }
    return undefined;
  };
  const numberIn = (field: 'temperature' | 'maxOutputTokens'): number | undefined => {
    const text = draft[field].trim();
    if (text === '') return undefined;
    const value = Number(text);
    if (Number.isFinite(value)) return value;
    problems[field] = 'no-number';
    return undefined;
  };
  const [values, more, options] = [objectIn('values'), objectIn('settings'), objectIn('options')];
  const [temperature, maxOutputTokens] = [numberIn('temperature'), numberIn('maxOutputTokens')];
  const settings = { ...defined({ temperature, maxOutputTokens }), ...more };
  const tags = draft.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  const text = (field: 'by' | 'deadline' | 'startDelay' | 'model'): string | undefined => draft[field].trim() || undefined;
  const common = defined({
    model: text('model'),
    settings: Object.keys(settings).length === 0 ? undefined : settings,
    values,
    options,
    tags: tags.length === 0 ? undefined : tags,
    deadline: text('deadline'),
    startDelay: text('startDelay'),
    stream: draft.isWhole ? false : undefined,
    runPendingToolCalls: draft.runPendingToolCalls || undefined,
    by: text('by'),
  });
  return { common, problems };
}

interface Sent<Request> {
  readonly request: Request;
  readonly problems: DraftProblems;
}

export function startOf(agent: string, input: Json | undefined, draft: StartDraft): Sent<StartRequest> {
  const { common, problems } = commonOf(draft);
  return { request: { agent, ...defined({ input, id: draft.id.trim() || undefined }), ...common }, problems };
}

export function messageOf(agent: string, message: string, draft: StartDraft): Sent<MessageRequest> {
  const { common, problems } = commonOf(draft);
  const { deadline: _, startDelay: __, runPendingToolCalls: ___, ...rest } = common;
  return { request: { message, agent, ...rest }, problems };
}
