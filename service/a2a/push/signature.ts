import { createHmac } from 'node:crypto';

const prefix = 'whsec_';

export interface Signed {
  readonly id: string;
  /** In seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers of Standard Webhooks. Each secret signs, so that receivers can change theirs one after another. */
export function signedHeaders({ id, timestamp, body }: Signed, secrets: string | undefined): Readonly<Record<string, string>> {
  const named = { 'webhook-id': id, 'webhook-timestamp': String(timestamp) };
  if (secrets === undefined) return named;
  const signatures = secrets.split(' ').flatMap((secret) => {
    if (secret === '') return [];
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return [`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`];
  });
  return { ...named, 'webhook-signature': signatures.join(' ') };
}
