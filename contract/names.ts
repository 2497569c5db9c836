/** Names that stand in recorded histories. Changing one breaks runs that are open. */
export const names = {
  workflow: 'agentRun',
  answerSignal: 'answer',
  answerUpdate: 'answer',
  continueAsNewSignal: 'continue-as-new',
  childSignal: 'child',
  cancelSignal: 'cancel',
  upgradeUpdate: 'upgrade',
  conversationUpdate: 'conversation',
  conversationSignal: 'conversation',
  statusQuery: 'status',
  trialWorkflow: 'agentTrial',
  trialActivity: 'tryNewestBuild',
  elsewhereActivity: 'answersElsewhere',
  keepActivity: 'keepResumePoint',
  pointActivity: 'resumePointOf',
  policyActivity: 'planPolicy',
  pushWorkflow: 'taskPush',
  pushSignal: 'push',
  /** The type of the failure of a task that ended with its thread, for the code of another run. */
  threadEnded: 'WorkflowThreadEnded',
  memo: {
    start: 'holdfastStart',
    events: 'holdfastEvents',
    interrupts: 'holdfastInterrupts',
    since: 'holdfastSince',
    retryOf: 'holdfastRetryOf',
    pushes: 'holdfastPushes',
  },
} as const;

/** Prefix of memo keys with an open interrupt. */
export const interruptMemoPrefix = `${names.memo.interrupts}:`;

/** Prefix of memo keys with the time since when an interrupt is open. */
export const sinceMemoPrefix = `${names.memo.since}:`;

/** Search attributes and their Temporal types. The embedded server registers them; others are checked. */
export const searchAttributes = {
  HoldfastAgent: 'Keyword',
  HoldfastTenant: 'Keyword',
  HoldfastStatus: 'Keyword',
  HoldfastTags: 'KeywordList',
  /** Who started the run, where that is known. */
  HoldfastStartedBy: 'Keyword',
  /** When the run began, of one that continued as new. The others began when their execution did. */
  HoldfastStartedAt: 'Datetime',
} as const;

export const defaultTaskQueue = 'holdfast';
export const defaultTenant = 'default';

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$/;
export function isRunId(id: unknown): id is string {
  return typeof id === 'string' && idPattern.test(id);
}

/** Names of agents, tools and middlewares become parts of addresses. */
const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
export function isName(name: unknown): name is string {
  return nameProblem(name) === undefined;
}

/** Why something is no name, or nothing. */
export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || !namePattern.test(name)) return 'a name is 1 to 64 letters, digits, _ or -, starting with a letter or _';
  return name in {} ? `every object of JavaScript has a "${name}" of its own, so it can name nothing here` : undefined;
}

export function workflowIdOf(tenant: string, id: string): string {
  return `${tenant}/${id}`;
}

export function runIdOf(workflowId: string): string {
  return workflowId.slice(workflowId.indexOf('/') + 1);
}
