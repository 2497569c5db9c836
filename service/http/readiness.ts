import type { HoldfastClient } from '../../client/index';

const keptMs = 1000;
const patienceMs = 2000;

/** Asks the Temporal server at most once a second. Rejects with 'server-unreachable' after two seconds. */
export function readiness(client: Pick<HoldfastClient, 'check'>, now: () => number = () => performance.now()): () => Promise<void> {
  let last: { readonly at: number; readonly answer: Promise<void> } | undefined;
  return () => {
    if (last === undefined || now() - last.at >= keptMs) last = { at: now(), answer: client.check(patienceMs) };
    return last.answer;
  };
}
