import { HoldfastError } from '../../contract/errors';
import type { Message, Part } from '../../contract/messages/messages';
import type { HookContext } from '../../kernel/define/middleware';
import { withTraits } from '../../kernel/define/traits';
import { bound, checkOptions, count, filled, isRecord } from '../../contract/check';
import { utf8Length } from '../../contract/limits';
import { tokensOfText } from '../token-count';
import { resultsByCall, toolRounds } from '../tool-rounds';
import type { SummaryFinalizer } from './finalizers';
import { summaryMark } from './user-messages';

export interface PreserveSkillsOptions {
  /** Default: `skill`. */
  readonly skillToolName?: string;
  /** Default: 5. */
  readonly maxSkills?: number;
  /** Default: 5,000. */
  readonly maxTokensPerSkill?: number;
  /** Default: 25,000. */
  readonly skillsTokenBudget?: number;
}

interface LoadedSkill {
  readonly name: string;
  readonly content: string;
}

/**
 * Keeps the newest contents of loaded skills, before the summary.
 * @example
 * export const compact = summarization({
 *   model: 'openai/gpt-5-mini',
 *   finalize: preserveSkills({ maxSkills: 3 }),
 * });
 */
export function preserveSkills(options?: PreserveSkillsOptions): SummaryFinalizer {
  const checked = checkOptions<PreserveSkillsOptions>('preserveSkills', options, {
    skillToolName: filled,
    maxSkills: count,
    maxTokensPerSkill: bound,
    skillsTokenBudget: bound,
  });
  const { skillToolName = 'skill', maxSkills = 5, maxTokensPerSkill = 5000, skillsTokenBudget = 25_000 } = checked;
  const finalizer: SummaryFinalizer = ({ messages, summary, result }, ctx) => {
    const skills = fitting(newestSkills(messages, skillToolName, ctx).slice(0, maxSkills), maxTokensPerSkill, skillsTokenBudget);
    if (skills.length === 0) return result;
    const kept: Message = {
      role: 'user',
      parts: [{ type: 'text', text: 'These skills were loaded and still hold:' }, ...skills.map(partOf)],
      extra: { [summaryMark]: 'skills' },
    };
    const at = result.indexOf(summary);
    return at === -1 ? [kept, ...result] : [...result.slice(0, at), kept, ...result.slice(at)];
  };
  return checked.skillToolName === undefined ? finalizer : withTraits(finalizer, { remembersTools: [checked.skillToolName] });
}

function partOf({ name: skill, content }: LoadedSkill): Part {
  return { type: 'text', text: `${opening(skill)}${content}${closing}`, extra: { skill } };
}

const opening = (skill: string): string => `<skill name="${skill}">\n`;
const closing = '\n</skill>';

function keptSkillsOf({ parts, extra }: Message): readonly LoadedSkill[] {
  if (extra?.[summaryMark] !== 'skills') return [];
  return parts.flatMap((part) => {
    const kept = part.type === 'text' ? part.extra?.['skill'] : undefined;
    return part.type === 'text' && typeof kept === 'string'
      ? [{ name: kept, content: part.text.slice(opening(kept).length, -closing.length) }]
      : [];
  });
}

function newestSkills(messages: readonly Message[], tool: string, ctx: HookContext): readonly LoadedSkill[] {
  const loaded: LoadedSkill[] = [];
  const rounds = new Map(toolRounds(messages).map((round) => [round.assistant, round]));
  for (const message of messages) {
    loaded.push(...keptSkillsOf(message));
    const round = rounds.get(message);
    if (round === undefined) continue;
    const calls = ctx.namedCalls(round.assistant);
    for (const [position, found] of [...resultsByCall(round).values()].entries()) {
      const call = calls[position];
      if (call?.name === tool && found !== undefined && found.isError !== true)
        loaded.push({
          name: skillOf(call.input, call.id),
          content: typeof found.output === 'string' ? found.output : JSON.stringify(found.output),
        });
    }
  }
  const newest = new Map<string, LoadedSkill>();
  for (const skill of loaded.reverse()) if (!newest.has(skill.name)) newest.set(skill.name, skill);
  return [...newest.values()];
}

function skillOf(input: unknown, callId: string): string {
  const skill = isRecord(input) ? input['skill'] : undefined;
  if (typeof skill === 'string') return skill;
  throw new HoldfastError(
    'hook-failed',
    `preserveSkills: the call "${callId}" names no skill: its arguments are ${JSON.stringify(input)}.`,
  );
}

function fitting(newestFirst: readonly LoadedSkill[], mostEach: number, budget: number): readonly LoadedSkill[] {
  const kept: LoadedSkill[] = [];
  let left = budget;
  for (const { name, content } of newestFirst) {
    const skill = { name, content: truncated(content, mostEach) };
    left -= tokensOfText(skill.content);
    if (left < 0) break;
    kept.unshift(skill);
  }
  return kept;
}

const truncationNotice = '[skill content truncated for compaction]';

function truncated(content: string, mostTokens: number): string {
  if (tokensOfText(content) <= mostTokens) return content;
  let kept = '';
  let bytes = truncationNotice.length + 1;
  for (const character of content) {
    bytes += utf8Length(character);
    if (bytes > mostTokens * 4) break;
    kept += character;
  }
  return `${kept}\n${truncationNotice}`;
}
