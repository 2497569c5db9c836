import { nthSegment } from '../../contract/record/agent-paths';
import { checkEmptyRun } from '../run/livelock-guard';
import type { RunScope } from '../run/scope';
import type { AgentEnd, SequenceDefinition } from '../define/definition';
import type { AgentPlace } from '../run/place';
import { keyOf, recordAt } from '../run/place';
import { runAgent } from './run-agent';

export async function runSequence(run: RunScope, sequence: SequenceDefinition, place: AgentPlace): Promise<AgentEnd> {
  const { agents, kind, maxIterations } = sequence;
  const record = recordAt(run, place);
  const steps = agents.length * (kind === 'loop' ? maxIterations : 1);
  while (record.at < steps) {
    run.cancels.at('between', place);
    const checkpoint = run.ports.checkpoint();
    if (checkpoint !== undefined) await checkpoint;
    const agent = agents[record.at % agents.length] as SequenceDefinition['agents'][number];
    const segment = segmentOf(sequence, record.at);
    if (record.next !== undefined && record.next !== segment)
      throw run.journal.change(`The agent "${keyOf(place)}" changed: "${record.next}" was at work in it, which is now "${segment}".`);
    record.next = segment;
    const since = run.pace.now;
    const end = await runAgent(run, agent, { ...place, path: [...place.path, segment], frame: place.frame.child(segment) });
    checkEmptyRun(run.pace, since, sequence.name);
    record.at += 1;
    delete record.next;
    record.last = { output: end.output, text: end.text };
    const { action } = end;
    if (action !== undefined && ('exit' in action || (kind === 'loop' && 'breakLoop' in action))) break;
  }
  return record.last ?? { output: '', text: '' };
}

/** An agent may stand in the list several times, and a loop repeats the list. */
function segmentOf({ agents }: SequenceDefinition, step: number): string {
  const { name } = agents[step % agents.length] as { name: string };
  const times = (upTo: number): number => agents.slice(0, upTo).filter((agent) => agent.name === name).length;
  return nthSegment(name, Math.floor(step / agents.length) * times(agents.length) + times(step % agents.length) + 1);
}
