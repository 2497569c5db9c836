import type { Context } from 'hono';
import { Hono } from 'hono';
import { findTargetHandler } from 'hono/utils/handler';
import type { z } from 'zod';
import type { MaybePromise } from '../../contract/maybe-promise';
import type { Entered, May } from '../access/gate';
import { gateOf } from '../access/gate';
import type { NamesIn } from '../../client/http/operations';
import type { Answers } from './openapi/answers';
import { parseBody, parseQuery } from './parse-request';
import { NothingGiven } from './schemas';

/** JSON of the type `name`, or a stream or text of the media type `type`, or both. */
export interface ToldAnswer<Name extends keyof Answers = keyof Answers> {
  readonly says: string;
  readonly name?: Name;
  readonly type?: string;
}

export interface Operation<Body = unknown, Query = unknown, Name extends keyof Answers = keyof Answers> {
  readonly summary: string;
  /** What the caller must be allowed to do. `anybody`: also whoever says not who calls. */
  readonly may: May;
  readonly body?: z.ZodType<Body>;
  /** Default: the limit of `parseBody`. */
  readonly bodyLimit?: number;
  /** For a route that reads the body itself. */
  readonly ownBody?: z.ZodType;
  /** Default: JSON. */
  readonly bodyType?: string;
  /** Absent: a GET refuses all parameters, unless `anyQuery` is set. */
  readonly query?: z.ZodType<Query>;
  readonly anyQuery?: true;
  readonly headers?: Readonly<Record<string, string>>;
  /** By status, without problems, which all routes share. */
  readonly answers: Readonly<Record<number, ToldAnswer<Name>>>;
}

export type Group =
  'Service' | 'Runs' | 'Batches' | 'Interrupts' | 'Policies' | 'Triggers' | 'Notices' | 'Schedules' | 'Conversations' | 'Protocols';
export type ToldOperation = Operation & { readonly group: Group };

export const events = 'text/event-stream';

export function ok<Name extends keyof Answers>(name: Name, says: string): { readonly 200: ToldAnswer<Name> } {
  return { 200: { says, name } };
}

export const done = ok('Id', 'It is done.');

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export type RouteAsked<Path extends string, Body = unknown, Query = unknown> = Readonly<Record<NamesIn<Path>, string>> & {
  readonly body: Body;
  readonly query: Query;
  readonly context: Context;
} & Entered;

export class Routes {
  readonly app = new Hono();

  constructor(private readonly group: Group) {}

  add<Path extends string, Body, Query, Name extends keyof Answers>(
    route: `${Method} ${Path}`,
    operation: Operation<Body, Query, Name>,
    answer: (asked: RouteAsked<Path, Body, Query>) => MaybePromise<Answers[Name] | Response>,
    group = this.group,
  ): this {
    const [method = '', path = ''] = route.split(' ');
    const { body, bodyLimit, anyQuery = method !== 'GET', query = anyQuery ? undefined : NothingGiven } = operation;
    const handler = async (context: Context): Promise<Response> => {
      const entered = await gateOf(context).enter(context, operation.may);
      const asked = {
        ...entered,
        ...context.req.param(),
        query: query === undefined ? undefined : parseQuery<unknown>(context, query),
        body: body === undefined ? undefined : await parseBody(context, body, bodyLimit),
        context,
      };
      const answered = await answer(asked as unknown as RouteAsked<Path, Body, Query>);
      return answered instanceof Response ? answered : context.json(answered as object);
    };
    this.app.on(method, path, Object.assign(handler, { operation: { ...operation, group } }));
    return this;
  }

  change<Body>(
    act: string,
    operation: Pick<Operation<Body>, 'summary' | 'may'> & { readonly body: z.ZodType<Body> },
    change: (asked: RouteAsked<'/:id', Body>) => Promise<unknown>,
  ): this {
    return this.add(`POST /:id/${act}`, { ...operation, answers: done }, async (asked) => {
      await change(asked);
      return { id: asked.id };
    });
  }
}

export function operationsOf(app: Hono): Readonly<Record<string, ToldOperation | undefined>> {
  const routes = app.routes.filter(({ method }) => method !== 'ALL');
  return Object.fromEntries(
    routes.map(({ method, path, handler }) => [
      `${method} ${path}`,
      (findTargetHandler(handler) as { operation?: ToldOperation }).operation,
    ]),
  );
}

export function methodsAt(app: Hono, path: string): readonly string[] {
  const found = app.routes.filter((route) => route.method !== 'ALL' && isAt(route.path, path)).map(({ method }) => method);
  return [...new Set(found)].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort();
}

/** A final slash is the most common mistake. */
export function noRoute(app: Hono, method: string, path: string): string {
  const shorter = path.replace(/^\/+/, '/').replace(/(?<=.)\/+$/, '');
  const question = shorter !== path && methodsAt(app, shorter).length > 0 ? ` Did you mean ${shorter}?` : '';
  return `There is no route ${method} ${path}.${question || (served.get(shorter) ?? '')}`;
}

const served: ReadonlyMap<string, string> = new Map(
  ['/v1/chat/completions', '/chat/completions'].map((path) => [path, ' The Responses API is served: POST /v1/responses.']),
);

function isAt(route: string, path: string): boolean {
  const [wanted, given] = [route.split('/'), path.split('/')];
  return wanted.length === given.length && wanted.every((part, at) => (part.startsWith(':') ? given[at] !== '' : part === given[at]));
}
