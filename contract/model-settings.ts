import { cut } from './shown';

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value);
const isGiven = (): boolean => true;

/** What a provider can be told, by name. */
const settings: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  temperature: [isNumber, 'a number'],
  maxOutputTokens: [(value) => isWhole(value) && (value as number) > 0, 'a whole number from 1'],
  topP: [isNumber, 'a number'],
  topK: [isNumber, 'a number'],
  presencePenalty: [isNumber, 'a number'],
  frequencyPenalty: [isNumber, 'a number'],
  stopSequences: [(value) => Array.isArray(value) && value.every((item) => typeof item === 'string'), 'a list of texts'],
  seed: [isWhole, 'a whole number'],
  toolChoice: [isGiven, ''],
  providerOptions: [isGiven, ''],
};

/** What is wrong with settings for a model that come from outside, or nothing. */
export function settingsProblem(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'they are no object';
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const [fits, form] = (Object.hasOwn(settings, name) ? settings[name] : undefined) ?? [];
    if (fits === undefined) return `there is no ${cut(name)}; there are ${Object.keys(settings).join(', ')}`;
    if (!fits(value)) return `${name} is ${form}`;
  }
  return undefined;
}
