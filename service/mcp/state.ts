import type { RequestStateCodec, ServerContext } from '@modelcontextprotocol/server';
import type { Interrupt } from '../../contract/interrupts';
import { shownHash } from '../access/links';
import type { McpCaller } from './caller';

/** What a client brings back with its answers. Signed, and readable for the client. */
export interface SignedState {
  readonly run: string;
  readonly asked: Readonly<Record<string, string>>;
}

const yearsS = 10 * 365 * 86_400;

export async function mintState(caller: McpCaller, ctx: ServerContext, run: string, interrupts: readonly Interrupt[]): Promise<string> {
  const ends = interrupts.map(({ deadline }) => (deadline === undefined ? yearsS : Math.ceil((deadline - Date.now()) / 1000)));
  const asked = Object.fromEntries(interrupts.map((interrupt) => [interrupt.id, shownHash(interrupt)]));
  const codec = await codecOf(caller, Math.max(1, ...ends));
  return codec.mint({ run, asked }, ctx);
}

export async function verifyState(caller: McpCaller, state: string, ctx: ServerContext): Promise<SignedState> {
  return (await codecOf(caller)).verify(state, ctx);
}

/** Of one caller alone: the state of a form is no right to answer. */
async function codecOf({ sdk, client, secret }: McpCaller, ttlSeconds = yearsS): Promise<RequestStateCodec<SignedState>> {
  const { tenant } = client.place;
  const bound = JSON.stringify([tenant, client.caller?.user ?? null]);
  return sdk.createRequestStateCodec<SignedState>({ key: await secret(), ttlSeconds, bind: () => bound });
}
