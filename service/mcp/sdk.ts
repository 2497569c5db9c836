import type * as Sdk from '@modelcontextprotocol/server';

export type McpSdk = typeof Sdk;

/** Loaded with the first request, because the package takes 26 MB. */
export async function loadSdk(): Promise<McpSdk> {
  return (await import('@modelcontextprotocol/server')) as unknown as McpSdk;
}
