import { isRecord } from '../../contract/check';
import type { Json } from '../../contract/messages/messages';
import type { ListedAgent, MessageRequest, StartRequest } from '../../http/index';

/** What somebody has typed for a start. Texts that are empty say nothing. */
export interface StartDraft {
  readonly id: string;
  readonly tags: string;
  readonly by: string;
  readonly deadline: string;
  readonly startDelay: string;
  readonly model: string;
  readonly temperature: string;
  readonly maxOutputTokens: string;
  /** JSON. */
  readonly values: string;
  readonly settings: string;
  readonly options: string;
  readonly isWhole: boolean;
  readonly runPendingToolCalls: boolean;
}

export const emptyDraft: StartDraft = {
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

export type DraftField = 'values' | 'settings' | 'options' | 'temperature' | 'maxOutputTokens';
export type DraftProblems = Readonly<Partial<Record<DraftField, 'not-json' | 'no-object' | 'no-number'>>>;

/** The agent of the project's example. Without one: the first that can be talked to. */
export function agentToTry(agents: readonly ListedAgent[]): ListedAgent | undefined {
  return agents.find(({ example }) => example !== undefined) ?? agents.find(({ takesJob }) => !takesJob) ?? agents[0];
}

type Common = Omit<StartRequest, 'agent' | 'input' | 'id'>;

/** What of the draft every start has. */
function commonOf(draft: StartDraft): { readonly common: Common; readonly problems: DraftProblems } {
  const problems: Partial<Record<DraftField, 'not-json' | 'no-object' | 'no-number'>> = {};
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
  const settings = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...more,
  };
  const tags = draft.tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  const text = (field: 'by' | 'deadline' | 'startDelay' | 'model'): Common =>
    draft[field].trim() === '' ? {} : { [field]: draft[field].trim() };
  const common: Common = {
    ...text('model'),
    ...(Object.keys(settings).length === 0 ? {} : { settings: settings }),
    ...(values === undefined ? {} : { values }),
    ...(options === undefined ? {} : { options: options }),
    ...(tags.length === 0 ? {} : { tags }),
    ...text('deadline'),
    ...text('startDelay'),
    ...(draft.isWhole ? { stream: false } : {}),
    ...(draft.runPendingToolCalls ? { runPendingToolCalls: true } : {}),
    ...text('by'),
  };
  return { common, problems };
}

/** The body of POST /runs. */
export function startOf(
  agent: string,
  input: Json | undefined,
  draft: StartDraft,
): { readonly request: StartRequest; readonly problems: DraftProblems } {
  const { common, problems } = commonOf(draft);
  const id = draft.id.trim();
  return {
    request: { agent, ...(input === undefined ? {} : { input }), ...(id === '' ? {} : { id }), ...common },
    problems,
  };
}

/** The body of POST /conversations/ID/messages. What only runs have is left out. */
export function messageOf(
  agent: string,
  message: string,
  draft: StartDraft,
): { readonly request: MessageRequest; readonly problems: DraftProblems } {
  const { common, problems } = commonOf(draft);
  const { deadline: _, startDelay: __, runPendingToolCalls: ___, ...rest } = common;
  return { request: { message, agent, ...rest }, problems };
}
