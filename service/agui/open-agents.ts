import { defined } from '../../contract/defined';
import { nameOfSegment } from '../../contract/record/agent-paths';
import type { Failure } from '../../contract/messages/messages';
import type { AguiEvent } from './events';

interface OpenAgent {
  /** Unique in the stream. */
  readonly id: string;
  readonly path: readonly string[];
}

/**
 * An agent that is a tool is a subagent; an agent of a flow or a team is a step. A stream that begins in the middle begins an agent at its
 * first event.
 */
export class OpenAgents {
  private readonly open = new Map<string, OpenAgent>();
  private readonly begun = new Map<string, number>();

  *begin(path: readonly string[]): Generator<AguiEvent, void, void> {
    for (let length = 2; length <= path.length; length++) yield* this.beginOne(path.slice(0, length));
  }

  private *beginOne(path: readonly string[]): Generator<AguiEvent, void, void> {
    const key = path.join('/');
    if (this.open.has(key)) return;
    const times = (this.begun.get(key) ?? 0) + 1;
    this.begun.set(key, times);
    const id = times === 1 ? key : `${key}~${times}`;
    const parentSubagentRunId = this.tagOf(path.slice(0, -1));
    this.open.set(key, { id, path });
    const name = nameOfSegment(path.at(-1) ?? '');
    if (isSubagent(path)) yield { type: 'SUBAGENT_STARTED', subagentRunId: id, name, ...defined({ parentSubagentRunId }) };
    else yield { type: 'STEP_STARTED', stepName: id };
  }

  tagOf(path: readonly string[]): string | undefined {
    for (let length = path.length; length >= 2; length--) {
      const at = path.slice(0, length);
      if (isSubagent(at)) return this.open.get(at.join('/'))?.id;
    }
    return undefined;
  }

  *end(path: readonly string[], error: Failure | undefined): Generator<AguiEvent, void, void> {
    for (const agent of this.inside(path)) yield* this.close(agent, 'success', error);
  }

  *endAll(how: 'success' | 'suspended'): Generator<AguiEvent, void, void> {
    for (const agent of this.inside([])) yield* this.close(agent, how);
  }

  private inside(path: readonly string[]): readonly OpenAgent[] {
    return [...this.open.values()]
      .filter((one) => path.every((segment, at) => one.path[at] === segment))
      .sort((a, b) => b.path.length - a.path.length);
  }

  private *close({ id, path }: OpenAgent, how: 'success' | 'suspended', error?: Failure): Generator<AguiEvent, void, void> {
    this.open.delete(path.join('/'));
    if (!isSubagent(path)) yield { type: 'STEP_FINISHED', stepName: id };
    else if (error !== undefined) yield { type: 'SUBAGENT_ERROR', subagentRunId: id, message: error.message, code: error.code };
    else yield { type: 'SUBAGENT_FINISHED', subagentRunId: id, outcome: { type: how } };
  }
}

function isSubagent(path: readonly string[]): boolean {
  return path.at(-1)?.includes('@') === true;
}
