import { pathFormsOf } from '../../contract/record/agent-paths';

/**
 * Whether an interrupt is of the agent that is at work at a path. Its address has the path, with turns and calls between. Of an agent that is a
 * tool the path has to say so: what a hidden agent asks is not asked by the one that called it.
 */
function isAskedAt(address: readonly string[], path: readonly string[]): boolean {
  let found = 0;
  for (const segment of address) {
    if (segment === path[found]) found += 1;
    else if (/[@!]\d+$/.test(segment)) return false;
  }
  return found === path.length;
}

/** The call that an interrupt is about: the last one of its id, of the agent that asks. */
export function askedCall<Call extends { readonly callId: string; readonly path: string }>(
  calls: readonly Call[],
  { callId, address }: { readonly callId: string; readonly address: readonly string[] },
): Call | undefined {
  const forms = pathFormsOf(address);
  const asked = calls.filter((call) => call.callId === callId && forms.some((form) => isAskedAt(form, call.path.split('/'))));
  const longest = Math.max(...asked.map(({ path }) => path.length));
  return asked.filter(({ path }) => path.length === longest).at(-1);
}
