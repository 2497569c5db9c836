import { bound, form, isFilled, isRecord, required, shape } from '../../contract/check';
import { defined } from '../../contract/defined';
import { limits } from '../../contract/limits';

/** How often an agent may act. With `finalize` the model gives its answer at the limit, without tools. */
export type IterationLimit =
  | number
  | {
      readonly limit: number;
      /** The last message of the final call; `true` for the default text. The message is not in the transcript. */
      readonly finalize?: true | string;
    };

export interface LimitOptions {
  /** How often the model may be called. Default 20. */
  readonly maxIterations?: IterationLimit;
  /** How many messages of the model may call tools. Default: the limit of model calls. */
  readonly maxToolIterations?: IterationLimit;
}

export interface AgentLimits {
  readonly maxIterations: number;
  readonly maxToolIterations?: number;
  readonly finalize: { readonly iterations?: string; readonly toolIterations?: string };
}

const lastIteration = 'This is your last turn, and you have no tools any more. Give your final answer now, from what you know by now.';
const lastTools = 'You have used your tools as often as you may. Give your final answer now, from what you know by now.';

export function limitsOf({ maxIterations, maxToolIterations }: LimitOptions): AgentLimits {
  const iterations = instructionOf(maxIterations, lastIteration);
  const toolIterations = instructionOf(maxToolIterations, lastTools);
  return {
    maxIterations: numberOf(maxIterations) ?? limits.maxIterations,
    ...(maxToolIterations === undefined ? {} : { maxToolIterations: numberOf(maxToolIterations) }),
    finalize: defined({ iterations, toolIterations }),
  };
}

function numberOf(limit: IterationLimit | undefined): number | undefined {
  return typeof limit === 'object' ? limit.limit : limit;
}

function instructionOf(limit: IterationLimit | undefined, ours: string): string | undefined {
  const finalize = typeof limit === 'object' ? limit.finalize : undefined;
  return finalize === true ? ours : finalize;
}

const told = form((value) => value === true || isFilled(value), 'true, or what the model is told');
const withFinalize = shape({ limit: required(bound), finalize: told });

export const iterationLimit = form(
  (value) => (isRecord(value) ? withFinalize : bound).problem(value, '') === undefined,
  'a whole number of at least 1, or { limit, finalize } with such a number, and true or what the model is told',
);
