import type { WorkerParts } from '../../../activities/parts';
import { SwitchedParts } from '../../../worker/builds/switched-parts';

const partsNamed = (name: string): WorkerParts => ({ name }) as unknown as WorkerParts;

describe('parts that are switched while a process runs', () => {
  it('are the newest for every build, and a run is prepared with those of its build', () => {
    const [first, second, third] = ['first', 'second', 'third'].map(partsNamed) as [WorkerParts, WorkerParts, WorkerParts];
    const parts = new SwitchedParts('one', first);
    expect(parts.current).toBe(first);
    parts.become('two', second);
    expect(parts.current).toBe(second);
    expect(parts.preparing('one')).toBe(first);
    expect(parts.preparing('two')).toBe(second);
    parts.become('two', third);
    expect(parts.preparing('two')).toBe(third);
    expect(parts.preparing('older')).toBe(third);
    parts.become('three', first)();
    expect(parts.current).toBe(third);
    expect(parts.preparing('three')).toBe(third);
    parts.forget('one');
    expect(parts.preparing('one')).toBe(third);
  });

  it('prepare a run of an older build with the MCP servers of today, unless one is gone', () => {
    const withServers = (...names: string[]): WorkerParts => ({ mcp: { names } }) as unknown as WorkerParts;
    const [wrong, corrected, without] = [withServers('shop'), withServers('shop', 'crm'), withServers('crm')];
    const parts = new SwitchedParts('one', wrong);
    const undo = parts.become('two', corrected);
    expect(parts.preparing('one').mcp).toBe(corrected.mcp);
    undo();
    expect(parts.preparing('one')).toBe(wrong);
    parts.become('two', without);
    expect(parts.preparing('one')).toBe(wrong);
  });
});
