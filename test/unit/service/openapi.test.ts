import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import type {
  AnswerRequest,
  ApplyPolicyRequest,
  CancelRequestBody,
  GoOnRequest,
  InterruptQuery,
  MessageRequest,
  RunQuery,
  StartRequest,
} from '../../../client/http/index';
import { openApiOf } from '../../../service/http/openapi/document';
import type {
  AnswerBody,
  ApplyPolicyBody,
  CancelBody,
  DecisionBody,
  GoOnBody,
  InboxQuery,
  ListQuery,
  MessageBody,
  StartBody,
} from '../../../service/http/schemas';
import { answersNow } from '../../openapi/answers';
import { operations, serviceApp } from '../../support/service-app';

const documentOf = (version: string) => openApiOf(version, serviceApp);

describe('the OpenAPI document', () => {
  it('has every route of the service: none was added without what it takes and answers', () => {
    expect(Object.keys(operations).length).toBeGreaterThan(50);
    expect(Object.entries(operations).filter(([, operation]) => operation === undefined)).toEqual([]);
  });

  it('has the answers that the types have now. `npm run answers` writes them', () => {
    expect(readFileSync(resolve('service/http/openapi/answers.json'), 'utf8')).toBe(answersNow(process.cwd()));
  });

  it('says of each field of an answer what it is', () => {
    const { schemas } = documentOf('1').components;
    const unknown = Object.entries(schemas).filter(([, schema]) => /"(?!not"|additionalProperties")\w+":\{\}/.test(JSON.stringify(schema)));
    expect(unknown.map(([name]) => name)).toEqual([]);
  });

  it('is valid by the schema of OpenAPI 3.1', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-openapi-'));
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(documentOf('1.2.3')));
    const validator = resolve('node_modules', '@seriousme', 'openapi-schema-validator', 'bin', 'validate-api-cli.js');
    const { status, stdout, stderr } = spawnSync(process.execPath, [validator, file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect([status, JSON.parse(stdout), stderr]).toEqual([0, { valid: true }, '']);
  });

  it('has one operationId for each route, and only components that there are', () => {
    const { paths, components } = documentOf('1.2.3');
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(new Set(ids).size).toBe(Object.keys(operations).length);
    expect(ids).toEqual(expect.arrayContaining(['postRuns', 'getRunsIdEvents', 'deleteConversationsIdQueueMessage']));
    const named = [...JSON.stringify({ paths, components }).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect([...new Set(named)].sort()).toEqual(Object.keys(components.schemas).sort());
  });

  it('says what queries take in the types of JSON', () => {
    const { parameters } = documentOf('1').paths['/runs/{id}/events']?.['get'] as {
      readonly parameters: readonly { readonly name: string; readonly schema: object }[];
    };
    expect(parameters.map(({ name, schema }) => ({ name, ...schema }))).toMatchObject([
      { name: 'id', type: 'string' },
      { name: 'from', type: 'integer', minimum: 0 },
      { name: 'until', enum: ['waiting', 'end'] },
      { name: 'deltas', type: 'boolean' },
      { name: 'Last-Event-ID', type: 'string' },
    ]);
  });

  it('says which parameters may stand there several times, and requests are taken so', async () => {
    const codeOf = async (path: string): Promise<string> =>
      ((await (await serviceApp.request(path)).json()) as { readonly error: { readonly code: string } }).error.code;
    // No service is attached, so accepted requests fail with `internal`.
    expect(await codeOf('/runs?mayAnswer=ann&role=desk&role=lead')).toBe('internal');
    expect(await codeOf('/runs?mayAnswer=ann&role=desk')).toBe('internal');
    expect(await codeOf('/runs?agent=desk&agent=lead')).toBe('request-invalid');
  });

  it('names the headers that routes read, and each kind of body that comes back', () => {
    const { paths } = documentOf('1');
    const told = (
      [
        ['/v1/responses', 'post'],
        ['/v1/responses/{id}', 'get'],
        ['/a2a/{agent}', 'post'],
        ['/a2a/{agent}/', 'post'],
      ] as const
    ).map(([path, method]) => {
      const { parameters = [], responses } = paths[path]?.[method] as unknown as {
        readonly parameters?: readonly { readonly in: string; readonly name: string }[];
        readonly responses: Readonly<Record<string, { readonly content: object }>>;
      };
      const headers = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
      return [path, headers, Object.keys(responses['200']?.content ?? {})];
    });
    const both = ['application/json', 'text/event-stream'];
    expect(told).toEqual([
      ['/v1/responses', ['Idempotency-Key'], both],
      ['/v1/responses/{id}', [], both],
      ['/a2a/{agent}', ['A2A-Version'], both],
      ['/a2a/{agent}/', ['A2A-Version'], both],
    ]);
  });

  it('comes as JSON, and as a page that loads nothing', async () => {
    expect(await (await serviceApp.request('/openapi.json')).json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Holdfast' } });
    const response = await serviceApp.request('/openapi');
    const page = await response.text();
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    for (const { summary } of Object.values(operations)) expect(page).toContain(summary.replaceAll("'", '&#39;'));
    expect(page).not.toMatch(/<script|<link|<img|\son\w+=/);
    expect((await serviceApp.request('/openapi.json?x=1')).status).toBe(400);
  });
});

type Fits<Request, Schema extends z.ZodType> = [keyof Request, keyof z.input<Schema>] extends [keyof z.input<Schema>, keyof Request]
  ? true
  : { readonly missing: Exclude<keyof z.input<Schema>, keyof Request>; readonly unknown: Exclude<keyof Request, keyof z.input<Schema>> };
type KeysOfAny<Union> = Union extends unknown ? keyof Union : never;

it('the typed client sends what the schemas take', () => {
  const fits: {
    readonly start: Fits<StartRequest, typeof StartBody>;
    readonly message: Fits<MessageRequest, typeof MessageBody>;
    readonly cancel: Fits<CancelRequestBody, typeof CancelBody>;
    readonly goOn: Fits<GoOnRequest, typeof GoOnBody>;
    readonly runs: Fits<RunQuery, typeof ListQuery>;
    readonly inbox: Fits<InterruptQuery, typeof InboxQuery>;
    readonly policy: Fits<ApplyPolicyRequest, typeof ApplyPolicyBody>;
    readonly answer: [KeysOfAny<AnswerRequest>] extends [KeysOfAny<z.input<typeof AnswerBody> | z.input<typeof DecisionBody>>]
      ? true
      : false;
  } = { start: true, message: true, cancel: true, goOn: true, runs: true, inbox: true, policy: true, answer: true };
  expect(Object.values(fits)).not.toContain(false);
});
