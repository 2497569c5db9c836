import { defined } from '../../contract/defined';
import { HoldfastError, messageOf } from '../../contract/errors';
import { notJson } from '../../contract/messages/messages';
import { thawed } from './invocation';
import type { Callback, CallbackArgs, CallbackOptions, CallbackResult, ChainOutcome, Place, Places } from './types';
import { checkOptions, flag } from '../../contract/check';
import { isCancellation, isStop } from '../../kernel/effects/errors';

export class PlacedError extends Error {}

export interface Phase<Args, Result> {
  readonly name: string;
  readonly custom: keyof Result & string;
  readonly keepsResultOfError?: boolean;
  readonly keepsEmpty?: boolean;
  readonly sticky?: readonly (keyof Result & string)[];
  readonly adopt?: (args: Args, result: Result) => void;
}

export function checkedCallbackOptions(owner: string, options: CallbackOptions | undefined): CallbackOptions {
  return checkOptions<CallbackOptions>(owner, options, { continueOnError: flag, continueOnResponse: flag, mergeOnStop: flag });
}

export class Chain<Args extends CallbackArgs, Result extends CallbackResult> {
  constructor(
    readonly phase: Phase<Args, Result>,
    private readonly options: CallbackOptions = {},
    private readonly callbacks: Callback<Args, Result>[] = [],
  ) {}

  get length(): number {
    return this.callbacks.length;
  }

  add(callback: Callback<Args, Result>): void {
    checkCallback(callback, this.phase.name);
    this.callbacks.push(callback);
  }

  append(other: Chain<Args, Result>): void {
    this.callbacks.push(...other.callbacks);
  }

  clone(): Chain<Args, Result> {
    return new Chain(this.phase, this.options, [...this.callbacks]);
  }

  /** Throws only a cancellation; other errors become part of the outcome. */
  async run(args: Args): Promise<ChainOutcome<Result>> {
    const { phase } = this;
    const { continueOnError = false, continueOnResponse = false, mergeOnStop = false } = this.options;
    let kept: Result | undefined;
    let first: Error | undefined;
    for (const callback of this.callbacks) {
      const { result, error } = await called(phase.name, callback, args);
      if (error !== undefined) {
        // A stop outranks other errors: the model must not react to a stop.
        if (first === undefined || (isStop(error) && !isStop(first))) first = error;
        if (!continueOnError)
          return defined({ result: phase.keepsResultOfError === true && result !== undefined ? stopped(result) : undefined, error });
      }
      if (result === undefined) continue;
      phase.adopt?.(args, result);
      if (result.values !== undefined) (args as { values: CallbackArgs['values'] }).values = { ...args.values, ...result.values };
      if (result[phase.custom] !== undefined && !continueOnResponse) return defined({ result: stopped(result), error: first });
      kept = kept === undefined ? result : merged(phase, kept, result);
    }
    const isEmpty = Object.values(kept ?? {}).every((value) => value === undefined);
    return isEmpty && first === undefined && phase.keepsEmpty !== true ? {} : defined({ result: kept, error: first });

    function stopped(result: Result): Result {
      return mergeOnStop && kept !== undefined ? merged(phase, kept, result) : result;
    }
  }
}

export type ChainAt<At extends Place> = Chain<Places[At][0], Places[At][1]>;

export const phases: { readonly [At in Place]: Phase<Places[At][0], Places[At][1]> } = {
  beforeAgent: { name: 'before agent', custom: 'customResponse' },
  afterAgent: { name: 'after agent', custom: 'customResponse' },
  beforeModel: { name: 'before model', custom: 'customResponse' },
  afterModel: { name: 'after model', custom: 'customResponse' },
  beforeTool: {
    name: 'before tool',
    custom: 'customResult',
    keepsResultOfError: true,
    adopt(args, { modifiedArguments }) {
      if (modifiedArguments !== undefined) args.arguments = thawed(modifiedArguments);
    },
  },
  afterTool: { name: 'after tool', custom: 'customResult', keepsResultOfError: true, keepsEmpty: true, sticky: ['skipSummarization'] },
};

export function checkCallback(callback: unknown, phase: string): void {
  if (typeof callback === 'function') return;
  throw new HoldfastError('agent-invalid', `unsupported callback type: a ${phase} callback is a function, not a ${typeof callback}.`);
}

export function merged<Args, Result extends CallbackResult>(phase: Phase<Args, Result>, earlier: Result, later: Result): Result {
  const all = { ...earlier };
  for (const [field, value] of Object.entries(later) as [keyof Result & string, never][]) if (value !== undefined) all[field] = value;
  for (const field of phase.sticky ?? []) if (earlier[field] === true) all[field] = earlier[field];
  const values = { ...earlier.values, ...later.values };
  return Object.keys(values).length === 0 ? all : { ...all, values };
}

async function called<Args, Result extends CallbackResult>(
  phase: string,
  callback: Callback<Args, Result>,
  args: Args,
): Promise<{ readonly result?: Result; readonly error?: Error }> {
  try {
    const result: unknown = await callback(args);
    if (result === undefined || result === null) return {};
    if (typeof result !== 'object') throw new PlacedError(`${phase} callback returned a ${typeof result}; return nothing or an object`);
    const { error, values } = result as CallbackResult;
    const problem = values === undefined ? undefined : problemOfValues(values);
    if (problem !== undefined)
      throw new HoldfastError('value-not-json', `${phase} callback returned values that are not JSON: ${problem}.`);
    return { result: result as Result, ...(error === undefined || error === null ? {} : { error: errorOf(phase, error) }) };
  } catch (thrown) {
    if (isCancellation(thrown)) throw thrown;
    return { error: errorOf(phase, thrown) };
  }
}

function problemOfValues(values: unknown): string | undefined {
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return 'they are no object with values by their keys';
  return notJson(values);
}

/** By form, as an error may come from another realm. */
function errorOf(phase: string, thrown: unknown): Error {
  if (Object.prototype.toString.call(thrown) === '[object Error]') return thrown as Error;
  return new PlacedError(`${phase} callback panic: ${messageOf(thrown)}`);
}
