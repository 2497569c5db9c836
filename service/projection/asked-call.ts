import { pathFormsOf } from '../../contract/record/agent-paths';

/**
 * The address has turns and calls between the path's segments. A segment of an agent that is a tool must be in the path, as a hidden
 * agent's caller does not ask its questions.
 */
function isAskedAt(address: readonly string[], path: readonly string[]): boolean {
  let found = 0;
  for (const segment of address) {
    if (segment === path[found]) found += 1;
    else if (/[@!]\d+$/.test(segment)) return false;
  }
  return found === path.length;
}

export function askedCall<Call extends { readonly callId: string; readonly path: string }>(
  calls: readonly Call[],
  { callId, address }: { readonly callId: string; readonly address: readonly string[] },
): Call | undefined {
  const forms = pathFormsOf(address);
  const asked = calls.filter((call) => call.callId === callId && forms.some((form) => isAskedAt(form, call.path.split('/'))));
  const longest = Math.max(...asked.map(({ path }) => path.length));
  return asked.filter(({ path }) => path.length === longest).at(-1);
}
