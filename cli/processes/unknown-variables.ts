import { keyedProviderTable } from '../../activities/models/providers/keyed';
import { configurationTable, type Environment } from '../../host/configuration';
import { similarNames } from '../../contract/similar-names';

const prefix = 'HOLDFAST_';
/** Set by the shell of the filesystem middleware. */
const ours = ['HOLDFAST_COMMAND'];

const configured = Object.keys(configurationTable);
const ofProviders = Object.values(keyedProviderTable).flatMap(({ keyVariable, urlVariable }) => [keyVariable, urlVariable]);
const known = [...configured, ...ofProviders, ...ours];

/** Unknown HOLDFAST_ names, and misspelled names. Values may be keys and are never quoted. */
export function unknownVariables(environment: Environment): readonly string[] {
  return Object.keys(environment).flatMap((name) => {
    if (known.includes(name) || !environment[name]) return [];
    const own = name.startsWith(prefix);
    const [meant] = own ? similarNames(name, configured) : known.filter((right) => !environment[right] && isSlip(name, right));
    if (own && meant === undefined) return [`${name} has no effect: Holdfast has no such variable.`];
    return meant === undefined ? [] : [`${name} has no effect: Holdfast reads ${meant}.`];
  });
}

/** One letter or the case differs. A number at the end is most often on purpose. */
function isSlip(name: string, right: string): boolean {
  if (/\d$/.test(name) || Math.abs(name.length - right.length) > 4) return false;
  const bare = (text: string): string => text.replace(/_/g, '').toLowerCase();
  if (bare(name) === bare(right)) return true;
  let start = 0;
  while (start < Math.min(name.length, right.length) && name[start] === right[start]) start++;
  const rest = (text: string, skipped: number): string => text.slice(start + skipped);
  const [one = '', two = ''] = rest(name, 0);
  return (
    rest(name, 1) === rest(right, 1) ||
    rest(name, 1) === rest(right, 0) ||
    rest(name, 0) === rest(right, 1) ||
    `${two}${one}${rest(name, 2)}` === rest(right, 0)
  );
}
