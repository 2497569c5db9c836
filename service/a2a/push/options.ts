import { z } from 'zod';
import type { PushTarget } from './targets';

export interface A2aOptions {
  /** Push notifications. Default: with `holdfast dev` on loopback to this machine, else none. */
  readonly push?: {
    /** 'public' (https to the internet), 'loopback' (this machine), or origins such as 'https://hooks.example.com'. Empty: none. */
    readonly to: readonly PushTarget[];
  };
}

function isTarget(text: string): boolean {
  if (text === 'public' || text === 'loopback') return true;
  return URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text);
}

const target = z.string().refine(isTarget, "is not 'public', 'loopback', or an origin such as \"https://hooks.example.com\"");

export const A2aOptionsSchema = z.strictObject({
  push: z.strictObject({ to: z.array(target).max(1000) }).optional(),
}) as z.ZodType<A2aOptions>;
