import type { Language } from '../../contract/manifest';

export interface SkillHead {
  readonly name: string;
  readonly description: string;
  /** `fork`: an agent does the skill. `fork_with_context`: an agent that knows the conversation. Absent: the text is the result. */
  readonly context?: string;
  readonly agent?: string;
  readonly model?: string;
}

export interface Skill extends SkillHead {
  readonly baseDirectory: string;
  readonly content: string;
}

export const prompts: Readonly<Record<Language, (tool: string) => string>> = {
  en: (tool) =>
    `You have skills: instructions for certain kinds of tasks, listed below. When a task fits one of them, call ${tool} with its name before you begin, and follow what it says. Do not guess what a skill says.`,
  zh: (tool) =>
    `你拥有一些技能,即针对某类任务的说明,列在下面。当任务符合某个技能时,先用其名称调用 ${tool},再按其内容执行。不要猜测技能的内容。`,
};

export function listedSkills(heads: readonly SkillHead[]): string {
  const entries = heads.map(({ name, description }) => `- ${inOneLine(name)}: ${inOneLine(description)}`);
  return ['<available_skills>', ...entries, '</available_skills>'].join('\n');
}

/** Keeps a skill's text from ending the list. */
function inOneLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/<(?=\/?available_skills)/gi, '‹')
    .trim();
}
