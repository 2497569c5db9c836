/** Recorded histories have these names: a change breaks open runs. */
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
  batchWorkflow: 'agentBatch',
  batchStopSignal: 'stop',
  /** The failure of a workflow task whose thread another run ended. */
  threadEnded: 'WorkflowThreadEnded',
  memo: {
    start: 'holdfastStart',
    events: 'holdfastEvents',
    interrupts: 'holdfastInterrupts',
    since: 'holdfastSince',
    retryOf: 'holdfastRetryOf',
    pushes: 'holdfastPushes',
    schedule: 'holdfastSchedule',
    batch: 'holdfastBatch',
    batchEnd: 'holdfastBatchEnd',
  },
} as const;

export const interruptMemoPrefix = `${names.memo.interrupts}:`;

/** The prefix of memo keys with the opening time of an interrupt. */
export const sinceMemoPrefix = `${names.memo.since}:`;

/** The embedded server registers the attributes; other servers are checked. */
export const searchAttributes = {
  HoldfastAgent: 'Keyword',
  HoldfastTenant: 'Keyword',
  HoldfastStatus: 'Keyword',
  HoldfastTags: 'KeywordList',
  HoldfastStartedBy: 'Keyword',
  /** Set after continue-as-new, because other runs begin with their execution. */
  HoldfastStartedAt: 'Datetime',
} as const;

export const defaultTaskQueue = 'holdfast';
export const defaultTenant = 'default';

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$/;
export function isRunId(id: unknown): id is string {
  return typeof id === 'string' && idPattern.test(id);
}

/** With such a beginning, runs of a tenant would have the ids of workflows that serve another tenant: of pushes, trials and batches. */
export function isTenant(name: unknown): name is string {
  return isRunId(name) && !/^(push|trial|batch):/.test(name);
}
export const tenantForm = '1 to 200 letters, digits and . _ - : @, starting with a letter or digit, and not with push:, trial: or batch:';

/** Names become parts of addresses. */
const namePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
export function isName(name: unknown): name is string {
  return nameProblem(name) === undefined;
}

export function nameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || !namePattern.test(name)) return 'a name is 1 to 64 letters, digits, _ or -, starting with a letter or _';
  return name in {} ? `every object of JavaScript has a "${name}" of its own, so it can name nothing here` : undefined;
}

export function workflowIdOf(tenant: string, id: string): string {
  return `${tenant}/${id}`;
}

export function tenantOf(workflowId: string): string {
  return workflowId.slice(0, workflowId.indexOf('/'));
}

/** SQLite and MySQL compare ids without regard to case, so each row is checked again. */
export function isOfTenant(workflowId: string, tenant: string): boolean {
  return workflowId.startsWith(workflowIdOf(tenant, ''));
}

export function runIdOf(workflowId: string): string {
  return workflowId.slice(workflowId.indexOf('/') + 1);
}
