import { pathFormsOf } from '../../contract/record/agent-paths';

/**
 * Whether the agent at a path asks the interrupt. The address contains the path, with turns and calls between its segments. A segment of an agent
 * that is a tool must be in the path: the caller of a hidden agent does not ask the questions of that agent.
 */
function isAskedAt(address: readonly string[], path: readonly string[]): boolean {
  let found = 0;
  for (const segment of address) {
    if (segment === path[found]) found += 1;
    else if (/[@!]\d+$/.test(segment)) return false;
  }
  return found === path.length;
}

/** The call that an interrupt asks about: the last call with the id, of the agent that asks. */
export function askedCall<Call extends { readonly callId: string; readonly path: string }>(
  calls: readonly Call[],
  { callId, address }: { readonly callId: string; readonly address: readonly string[] },
): Call | undefined {
  const forms = pathFormsOf(address);
  const asked = calls.filter((call) => call.callId === callId && forms.some((form) => isAskedAt(form, call.path.split('/'))));
  const longest = Math.max(...asked.map(({ path }) => path.length));
  return asked.filter(({ path }) => path.length === longest).at(-1);
}
