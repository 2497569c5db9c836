import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';

export function answersNow(root: string): string {
  const { definitions = {} } = createGenerator({
    path: join(root, 'service/http/openapi/answers.ts'),
    tsconfig: join(root, 'service/tsconfig.json'),
    skipTypeCheck: true,
    additionalProperties: true,
  }).createSchema('Answers');
  const { Answers, ...schemas } = definitions as Record<string, { readonly properties?: object }>;
  const lines = (named: object): string =>
    Object.entries(named)
      .map(([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(schema)}`)
      .sort()
      .join(',\n');
  return `{"answers":{\n${lines(Answers?.properties ?? {})}\n},"schemas":{\n${lines(schemas)}\n}}\n`.replaceAll(
    '#/definitions/',
    '#/components/schemas/',
  );
}

if (require.main === module) {
  const root = resolve(__dirname, '../../..');
  writeFileSync(join(root, 'service/http/openapi/answers.json'), answersNow(root));
}
