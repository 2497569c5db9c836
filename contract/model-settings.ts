import { anything, both, bound, form, isRecord, problemOfFields, shape, texts } from './check';
import type { ModelSettings } from './messages/messages';
import { notJson } from './messages/messages';
import { shown } from './shown';

const number = form(Number.isFinite, 'a number');

const settings = {
  temperature: number,
  maxOutputTokens: bound,
  topP: number,
  topK: number,
  presencePenalty: number,
  frequencyPenalty: number,
  stopSequences: texts,
  seed: form(Number.isSafeInteger, 'a whole number'),
  toolChoice: anything,
  providerOptions: anything,
};

export const settingsForm = shape(settings, 'an object such as { temperature: 0 }');

/** Refuses a date, a map or a promise of workflow code. */
export const modelSettings = both(
  form((given) => Object.prototype.toString.call(given) === '[object Object]', settingsForm.wanted),
  both(settingsForm, {
    wanted: 'JSON',
    problem: (given, option) => {
      const { toolChoice = null, providerOptions = null } = given as ModelSettings;
      const found = notJson(toolChoice, 'toolChoice') ?? notJson(providerOptions, 'providerOptions');
      return found === undefined ? undefined : `${option} must be JSON: ${briefly(found)}`;
    },
  }),
);

export function settingsProblem(given: unknown): string | undefined {
  return isRecord(given) ? problemOfFields(given, settings) : `they must be ${settingsForm.wanted}, not ${shown(given)}`;
}

/** The problem stands at the end, after keys that may be long. */
function briefly(problem: string): string {
  return problem.length <= 200 ? problem : `${problem.slice(0, 100)}…${problem.slice(-60)}`;
}
