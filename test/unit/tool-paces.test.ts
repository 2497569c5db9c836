import { z } from 'zod';
import { ToolPaces } from '../../activities/tools/tool-paces';
import { defineTool } from '../../activities/tools/define-tool';
import { ToolRegistry } from '../../activities/tools/tools';

const basics = { description: 'Looks.', inputSchema: z.object({}), execute: () => 'seen' };

describe('the pace of tools', () => {
  const paces = new ToolPaces(
    new ToolRegistry({
      look: defineTool({ ...basics, effect: 'none' }),
      late: defineTool({ ...basics, effect: 'none' }),
      unsaid: defineTool(basics),
      pay: defineTool({ ...basics, effect: 'idempotent' }),
      again: defineTool({ ...basics, effect: 'none', retry: { attempts: 2 } }),
      swift: defineTool({ ...basics, quick: true }),
      asks: defineTool({ ...basics, effect: 'none' }),
    }),
  );
  const noteAll = (tool: string, ...times: readonly number[]): void => times.forEach((ms) => paces.note(tool, ms));

  it('is brief when the last calls were short, three of them at least', () => {
    noteAll('look', 1, 2);
    expect(paces.isBrief('look')).toBe(false);
    noteAll('look', 19);
    expect(paces.isBrief('look')).toBe(true);
    noteAll('look', 20);
    expect(paces.isBrief('look')).toBe(false);
  });

  it('is brief again when five short calls have come behind a long one', () => {
    noteAll('late', 1, 1, 900, 1, 1, 1, 1);
    expect(paces.isBrief('late')).toBe(false);
    noteAll('late', 1);
    expect(paces.isBrief('late')).toBe(true);
  });

  it('is brief only where a second call does no harm: the tool says so, or is quick', () => {
    for (const tool of ['unsaid', 'pay', 'again', 'swift', 'nobody']) noteAll(tool, 1, 1, 1);
    expect(['unsaid', 'pay', 'again', 'nobody'].filter((tool) => paces.isBrief(tool))).toEqual([]);
    expect(paces.isBrief('swift')).toBe(true);
  });

  it('is never brief of a tool that asks, or shows what it does', () => {
    noteAll('asks', 1, 1, 1);
    paces.noteMore('asks');
    noteAll('asks', 1, 1, 1, 1, 1);
    expect(paces.isBrief('asks')).toBe(false);
  });
});
