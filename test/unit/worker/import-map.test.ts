import { ImportMap, describedImports } from '../../../worker/bundle/import-map';

const described = (map: ImportMap): readonly string[] => map.nodeImports('agents').map((each) => describedImports(each, '/project'));

function mapOf(...imports: readonly (readonly [file: string, request: string, target?: string])[]): ImportMap {
  const map = new ImportMap();
  map.add('/entry', 'agents', '/project/agents.ts');
  for (const each of imports) map.add(...each);
  return map;
}

describe('what an agents module imports', () => {
  it('is all right without Node', () => {
    const map = mapOf(['/project/agents.ts', 'holdfast/workflow', '/holdfast/workflow'], ['/holdfast/workflow', 'util', '/util']);
    expect(described(map)).toEqual([]);
  });

  it('is described from the module to the import that needs Node', () => {
    const map = mapOf(
      ['/project/agents.ts', './lib/deep', '/project/lib/deep.ts'],
      ['/project/lib/deep.ts', '../tools', '/project/tools.ts'],
      ['/project/tools.ts', 'node:fs'],
    );
    expect(described(map)).toEqual([
      "agents.ts imports './lib/deep', and lib/deep.ts imports '../tools', and tools.ts imports 'node:fs' of Node.",
    ]);
  });

  it('is followed into packages, whose own files nobody wants to read of', () => {
    const map = mapOf(
      ['/project/agents.ts', 'pg', '/packages/pg/index.js'],
      ['/packages/pg/index.js', './client', '/packages/pg/client.js'],
      ['/packages/pg/client.js', 'net'],
      ['/packages/pg/client.js', '@temporalio/client'],
      ['/packages/pg/client.js', './index', '/packages/pg/index.js'],
      ['/packages/pg/client.js', 'node:tls'],
      ['/packages/pg/client.js', 'dns'],
    );
    expect(described(map)).toEqual(["agents.ts imports 'pg' (needs dns, net, tls and 1 more)."]);
  });

  it('is told once, by the shortest way', () => {
    const map = mapOf(
      ['/project/agents.ts', './long', '/project/long.ts'],
      ['/project/agents.ts', './tools', '/project/tools.ts'],
      ['/project/long.ts', './tools', '/project/tools.ts'],
      ['/project/tools.ts', 'fs'],
      ['/project/tools.ts', './agents', '/project/agents.ts'],
    );
    expect(described(map)).toEqual(["agents.ts imports './tools', and tools.ts imports 'fs' of Node."]);
  });
});
