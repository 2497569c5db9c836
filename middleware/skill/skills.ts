/** What the head of a SKILL.md says. */
export interface SkillHead {
  readonly name: string;
  readonly description: string;
  /** Nothing: the text comes into the conversation. `fork`: an agent of its own does it; `fork_with_context`: one that knows the conversation. */
  readonly context?: string;
  /** The agent that does it. */
  readonly agent?: string;
  /** The model from then on. */
  readonly model?: string;
}

export interface Skill extends SkillHead {
  readonly baseDirectory: string;
  readonly content: string;
}
