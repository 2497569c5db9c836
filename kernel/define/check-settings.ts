import { notJson } from '../../contract/messages/messages';
import { settingsProblem } from '../../contract/model-settings';

/** What is wrong with settings that an agent is defined with, or nothing. */
export function settingsMisfit(settings: unknown): string | undefined {
  if (settings === undefined) return undefined;
  if (Object.prototype.toString.call(settings) !== '[object Object]') return 'settings are an object.';
  const problem = settingsProblem(settings);
  if (problem !== undefined) return `settings: ${problem}.`;
  const { toolChoice, providerOptions } = settings as { readonly toolChoice?: unknown; readonly providerOptions?: unknown };
  for (const [field, value] of Object.entries({ toolChoice, providerOptions })) {
    const found = value === undefined ? undefined : notJson(value, field);
    if (found !== undefined) return `settings: ${field} is not JSON: ${briefly(found)}.`;
  }
  return undefined;
}

/** The keys in it may be long; what is wrong stands at its end. */
function briefly(problem: string): string {
  return problem.length <= 200 ? problem : `${problem.slice(0, 100)}…${problem.slice(-60)}`;
}
