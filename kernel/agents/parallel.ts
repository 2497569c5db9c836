import { nthSegment } from '../../contract/record/agent-paths';
import type { Json } from '../../contract/messages/messages';
import { allSettledInOrder } from '../turn/wait-for-calls';
import type { RunScope } from '../run/scope';
import type { BranchEnd } from '../run/state';
import { fork, join } from '../run/conversation';
import type { AgentEnd, AnyAgent, ParallelDefinition } from '../define/definition';
import { isChat } from '../define/definition';
import { runIsolated } from './isolated';
import type { AgentPlace } from '../run/place';
import { inputAt, keyOf, recordAt } from '../run/place';
import { runAgent } from './run-agent';
import { errorOf, failureOf, isCancellation, isStop } from '../effects/errors';

/** A failure stops no parallel agent, and the first failure in list order is the failure of the group. A stop ends all. */
export async function runParallel(run: RunScope, { agents, isolate }: ParallelDefinition, place: AgentPlace): Promise<AgentEnd> {
  const record = recordAt(run, place);
  const key = keyOf(place);
  const ends = (record.ends ??= {});
  const segments = segmentsOf(agents.map(({ name }) => name));
  const branches = (record.branches ??= segments);
  if (branches.join() !== segments.join())
    throw run.journal.change(
      `The agent "${key}" changed: at work in it were ${branches.join(', ')}; now there are ${segments.join(', ')}.`,
    );
  run.cancels.at('between', place);
  const runBranch = async (position: number): Promise<void> => {
    const before = ends[position];
    if (before !== undefined) return refuseStopped(before);
    const agent = agents[position] as ParallelDefinition['agents'][number];
    const segment = segments[position] as string;
    const branch = place.branch === undefined ? {} : { branch: fork(place.branch, key, position) };
    const inside = { ...place, ...branch, path: [...place.path, segment], frame: place.frame.child(segment) };
    try {
      if (isolate) {
        refuseStopped((ends[position] = await isolatedBranch(run, agent, inside)));
        return;
      }
      const end = await runAgent(run, agent, inside);
      ends[position] = { output: end.output, text: end.text };
    } catch (error) {
      if (isCancellation(error)) throw error;
      ends[position] ??= { error: failureOf(error) };
      if (isStop(error)) throw error;
    }
  };
  await allSettledInOrder(
    run,
    agents.map((_, position) => runBranch(position)),
  );
  if (place.branch !== undefined) join(run, place.branch, key);
  if (isolate) for (const position of segments.keys()) Object.assign(run.state.session, ends[position]?.session);
  const output: Record<string, Json> = {};
  const texts: string[] = [];
  for (const [position, segment] of segments.entries()) {
    const end = ends[position];
    if (end === undefined) continue;
    if ('error' in end) throw errorOf(end.error);
    output[segment] = end.output;
    texts.push(`${segment}: ${end.text}`);
  }
  return { output, text: texts.join('\n\n') };
}

/** A recorded stop ends the run at once, even after a continue-as-new. */
function refuseStopped(end: BranchEnd): void {
  if ('error' in end && end.error.code === 'stopped') throw errorOf(end.error);
}

/** Session values count when all agents have ended, in list order. */
async function isolatedBranch(run: RunScope, agent: AnyAgent, place: AgentPlace): Promise<BranchEnd> {
  const rewriter = isChat(agent) ? agent.historyRewriter : undefined;
  const end = await runIsolated(run, agent, place, () => inputAt(run, place, agent.name, rewriter));
  const session = end.session === undefined ? {} : { session: end.session };
  return 'failed' in end ? { error: end.failed, ...session } : { output: end.output, text: end.text, ...session };
}

function segmentsOf(names: readonly string[]): readonly string[] {
  return names.map((name, position) => nthSegment(name, names.slice(0, position + 1).filter((one) => one === name).length));
}
