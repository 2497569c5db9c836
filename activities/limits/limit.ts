import type { Form } from '../../contract/check';
import { bound, isRecord, shape } from '../../contract/check';
import { shown } from '../../contract/shown';

export interface Limit {
  readonly concurrent?: number;
  readonly perMinute?: number;
  readonly tokensPerMinute?: number;
}

export type ModelLimits = Readonly<Record<string, Limit>>;

const forms = { concurrent: bound, perMinute: bound, tokensPerMinute: bound };
const wanted = 'an object such as { "openai/*": { concurrent: 5, perMinute: 300 } }';

/** Limits by `provider/model`, `provider/*` or `*`. */
export const limitsForm: Form = {
  wanted,
  problem: (value, option) => {
    if (!isRecord(value)) return `${option} must be ${wanted}. It is ${shown(value)}`;
    for (const [pattern, limit] of Object.entries(value)) {
      const at = `${option}[${JSON.stringify(pattern)}]`;
      if (!isPattern(pattern)) return `${at} names no model: write "openai/gpt-5", "openai/*" for a provider, or "*" for all models`;
      const problem = shape(forms).problem(limit, at);
      if (problem !== undefined) return problem;
      if (Object.values(limit as object).every((one) => one === undefined))
        return `${at} limits nothing: give it concurrent, perMinute or tokensPerMinute`;
    }
    return undefined;
  },
};

/** A star elsewhere would count as a letter. */
function isPattern(pattern: string): boolean {
  return pattern === '*' || /^[^/*\s]+\/(\*|[^*\s]+)$/.test(pattern);
}

export function covers(pattern: string, model: string): boolean {
  return pattern === '*' || pattern === model || (pattern.endsWith('/*') && model.startsWith(pattern.slice(0, -1)));
}
