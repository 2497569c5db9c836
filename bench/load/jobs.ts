/** What the runs of a load do: the model, the agents, and whoever drives the load and counts afterwards read it here. */
export interface Job {
  readonly kind: JobKind;
  readonly id: string;
}

export interface Call {
  readonly tool: string;
  readonly input: { readonly label: string };
}

interface Plan {
  readonly agent: 'jobs' | 'pair';
  /** The calls of each turn; behind the last one the model says that it is done. */
  readonly turns: (id: string, agent: string) => readonly (readonly Call[])[];
  /** Effects that the run has at its end, each once. */
  readonly effects: (id: string) => readonly string[];
  readonly decision?: 'approve' | 'reject' | 'cancel';
}

const call = (tool: string, label: string): Call => ({ tool, input: { label } });
const none = (): readonly string[] => [];

/** How long the model of `ponders` takes for each of its answers. */
export const ponderMs = 4000;

/** How many turns a run of the kind `notes` has. */
export const noteTurns = 15;

export const plans = {
  looks: { agent: 'jobs', turns: (id) => [[call('look', id)], [call('look', id)]], effects: none },
  /** As `looks`, with a model that takes its time. */
  ponders: { agent: 'jobs', turns: (id) => [[call('look', id)], [call('look', id)]], effects: none },
  asks: { agent: 'jobs', turns: (id) => [[call('refund', `${id}/refund`)]], effects: (id) => [`${id}/refund`], decision: 'approve' },
  approved: {
    agent: 'jobs',
    turns: (id) => [[call('look', id)], [call('refund', `${id}/refund`)]],
    effects: (id) => [`${id}/refund`],
    decision: 'approve',
  },
  rejected: { agent: 'jobs', turns: (id) => [[call('look', id)], [call('refund', `${id}/refund`)]], effects: none, decision: 'reject' },
  cancelled: { agent: 'jobs', turns: (id) => [[call('look', id)], [call('refund', `${id}/refund`)]], effects: none, decision: 'cancel' },
  pays: {
    agent: 'jobs',
    turns: (id) => [[call('look', id)], [call('pay', `${id}/pay`)]],
    effects: (id) => [`${id}/pay`],
  },
  stamps: {
    agent: 'jobs',
    turns: (id) => [[call('stamp', `${id}/stamp`)], [call('note', `${id}/note`), call('look', id)]],
    effects: (id) => [`${id}/stamp`, `${id}/note`],
  },
  retries: {
    agent: 'jobs',
    turns: (id) => [[call('flaky', `${id}/flaky`)], [call('note', `${id}/note`)]],
    effects: (id) => [`${id}/flaky`, `${id}/note`],
  },
  isolates: {
    agent: 'pair',
    turns: (id, agent) => [[call('look', id)], [call('note', `${id}/${agent}`)]],
    effects: (id) => [`${id}/left`, `${id}/right`],
  },
  notes: {
    agent: 'jobs',
    turns: (id) => Array.from({ length: noteTurns }, (_, turn) => [call('note', `${id}/${turn}`)]),
    effects: (id) => Array.from({ length: noteTurns }, (_, turn) => `${id}/${turn}`),
  },
} as const satisfies Record<string, Plan>;

export type JobKind = keyof typeof plans;

export const planOf = ({ kind }: Job): Plan => plans[kind];

/** A day of an office: of twenty jobs, so many of each kind. */
export const day: readonly JobKind[] = [
  ...Array.from({ length: 5 }, () => 'looks' as const),
  ...Array.from({ length: 4 }, () => 'approved' as const),
  ...Array.from({ length: 3 }, () => 'pays' as const),
  ...Array.from({ length: 2 }, () => 'stamps' as const),
  ...Array.from({ length: 2 }, () => 'retries' as const),
  ...Array.from({ length: 2 }, () => 'isolates' as const),
  'rejected',
  'cancelled',
];

export const jobText = (job: Job): string => JSON.stringify(job);
export const jobOf = (text: string): Job => JSON.parse(text) as Job;
