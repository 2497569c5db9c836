import { z } from 'zod';
import { duration } from '../../contract/check';
import type { Effect } from '../../contract/manifest';
import { mcpServersProblem } from '../../contract/mcp-names';

interface McpServerBasics {
  /** Effects of tools, by the server's names of the tools. Default: what the server hints, or `none`. */
  readonly effects?: Readonly<Record<string, Effect>>;
  /** The server keeps state by session: each run has a connection of its own on a worker. Default: one connection for all runs. */
  readonly perRun?: boolean;
  /** Longest time of a call. Default: 60s. */
  readonly timeout?: string;
}

/** A process on the host of the worker, which speaks by stdin and stdout. */
export interface McpCommand extends McpServerBasics {
  readonly command: string;
  readonly args?: readonly string[];
  /** More variables than PATH, HOME and a few others. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly url?: undefined;
  readonly forTenant?: undefined;
}

/** A server with streamable HTTP. */
export interface McpUrl extends McpServerBasics {
  readonly url: string;
  /** Such as `{ authorization: process.env.COMPANY_TOKEN }`. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly oauth?: McpOAuth;
  /** Undefined: not for the tenant. */
  readonly forTenant?: (tenant: string) => McpAccess | undefined | Promise<McpAccess | undefined>;
  readonly command?: undefined;
}

export type McpAccess = Pick<McpUrl, 'headers' | 'oauth'>;

/** Client credentials. Only `expectedIssuer` gets the secret, whatever issuer the server names. */
export interface McpOAuth {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly expectedIssuer: string;
  readonly scope?: string;
}

export type McpServerOptions = McpCommand | McpUrl;

const text = z.string().min(1);
const texts = z.record(text, z.string().optional());
/** Errors of `fetch` show values. */
const header = z.string({ error: 'is missing' }).regex(/^[\t\x20-\x7e\x80-\xff]*[\r\n]*$/, 'is no value of a header');
const isWeb = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
const basics = {
  effects: z.record(text, z.enum(['none', 'idempotent', 'once'])).optional(),
  perRun: z.boolean().optional(),
  timeout: z.string().optional(),
};
const command = z.strictObject({
  command: text,
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  cwd: text.optional(),
  ...basics,
});
const oauth = z.strictObject({
  clientId: text,
  clientSecret: z.string().optional(),
  expectedIssuer: z
    .string({ error: 'is required: without it the server would say who gets the secret' })
    .refine(isWeb, 'is no URL of an issuer'),
  scope: text.optional(),
});
const url = z.strictObject({
  url: z.string().refine(isWeb, 'is no URL such as "https://mcp.example.com/mcp"'),
  headers: z.record(text, header.optional()).optional(),
  oauth: oauth.optional(),
  forTenant: z.custom((value) => typeof value === 'function', 'is no function').optional(),
  ...basics,
});

const access = z.strictObject({ headers: z.record(text, header).optional(), oauth: oauth.extend({ clientSecret: z.string() }).optional() });

export function accessProblem(given: unknown): string | undefined {
  const [issue] = access.safeParse(given).error?.issues ?? [];
  return issue && `${issue.path.length === 0 ? '' : `\`${issue.path.join('.')}\` `}${wordsOf(issue)}`;
}

export const McpSchema = z
  .record(z.string(), z.looseObject({}))
  .transform((servers, context): Readonly<Record<string, McpServerOptions>> => {
    const problem = mcpServersProblem(Object.keys(servers));
    if (problem !== undefined) context.addIssue({ code: 'custom', message: `is refused: ${problem}` });
    for (const [name, server] of Object.entries(servers)) {
      if ('command' in server === 'url' in server) {
        const keys = Object.keys(server).filter((key) => !Object.hasOwn(command.shape, key) && !Object.hasOwn(url.shape, key));
        const unknown = keys.length === 0 ? '' : `${noField(keys)}. It `;
        context.addIssue({ code: 'custom', path: [name], message: `${unknown}needs a command or a url, and not both` });
        continue;
      }
      for (const issue of ('command' in server ? command : url).safeParse(server).error?.issues ?? [])
        context.addIssue({ code: 'custom', path: [name, ...issue.path], message: wordsOf(issue) });
      const unfit = typeof server['timeout'] === 'string' ? duration.problem(server['timeout'], 'timeout') : undefined;
      if (unfit !== undefined) context.addIssue({ code: 'custom', path: [name, 'timeout'], message: 'is no duration such as "30s"' });
    }
    return servers as unknown as Readonly<Record<string, McpServerOptions>>;
  });

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return noField(issue.keys);
  return issue.code === 'custom' || /^is /.test(issue.message) ? issue.message : `is wrong: ${issue.message}`;
}

function noField(keys: readonly string[]): string {
  return `has no field ${keys.map((key) => `\`${key}\``).join(', ')}`;
}
