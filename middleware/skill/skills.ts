export interface SkillHead {
  readonly name: string;
  readonly description: string;
  /** `fork`: an agent does the skill. `fork_with_context`: an agent that knows the conversation. Absent: the text is the result. */
  readonly context?: string;
  readonly agent?: string;
  /** From then on. */
  readonly model?: string;
}

export interface Skill extends SkillHead {
  readonly baseDirectory: string;
  readonly content: string;
}
