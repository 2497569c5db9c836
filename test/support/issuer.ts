import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { JWK, JWTHeaderParameters } from 'jose' with { 'resolution-mode': 'import' };

export const audience = 'https://holdfast.example.com';
export const client = { clientId: 'holdfast', clientSecret: 'secret-of-the-client' };

export interface TestIssuer {
  readonly url: string;
  /** Does at the issuer what a person does there, and returns the address to which the issuer sends the person back. */
  signIn(page: string, user: string): Promise<string>;
  tokens(user: string): Promise<{ readonly access: string; readonly id: string }>;
  /** Signs a token with a key of the issuer, whatever the token says. */
  sign(claims: object, header?: Partial<JWTHeaderParameters>, key?: JWK): Promise<string>;
  readonly publicKey: JWK;
  stop(): Promise<void>;
}

interface Provider {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
}
interface ProviderModule {
  readonly people: readonly string[];
  providerAt(url: string, options: object): Provider;
}

/** A real issuer. `callbacks` are the addresses to which it sends people back. */
export async function startIssuer(callbacks: readonly string[]): Promise<TestIssuer> {
  const { exportJWK, generateKeyPair, importJWK, SignJWT } = await import('jose');
  const shared = globalThis as unknown as { sharedModule(name: string): ProviderModule };
  const { people, providerAt } = shared.sharedModule(join(__dirname, 'shared', 'provider.js'));
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' };
  const sockets = createServer();
  await new Promise<void>((resolve) => sockets.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
  const own = `${url}/back`;
  const provider = providerAt(url, { ...client, callbacks: [...callbacks, own], key });
  const answer = provider.callback();
  sockets.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const [, place, , accountId] = (request.url ?? '').split('/');
    if (place !== 'sign-in') answer(request, response);
    else if (accountId === undefined) response.end(people.join(', '));
    else void provider.interactionFinished(request, response, { login: { accountId } });
  });

  const signIn = async (page: string, user: string): Promise<string> => {
    const cookies = new Map<string, string>();
    let at = page;
    while (at.startsWith(url) && !at.startsWith(own)) {
      const path = /\/sign-in\/[^/]+$/.test(at) ? `${at}/${user}` : at;
      const header = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answered = await fetch(path, { redirect: 'manual', headers: { cookie: header } });
      for (const [, name = '', value = ''] of answered.headers.getSetCookie().map((line) => /^([^=]+)=([^;]*)/.exec(line) ?? []))
        cookies.set(name, value);
      const next = answered.headers.get('location');
      if (next === null) throw new Error(`The issuer stays at ${path}: ${await answered.text()}`);
      at = new URL(next, path).href;
    }
    return at;
  };

  return {
    url,
    signIn,
    publicKey: { ...(await exportJWK(publicKey)), kid: 'first', alg: 'RS256' },
    async tokens(user) {
      const asked = { client_id: client.clientId, redirect_uri: own, resource: audience };
      const page = new URLSearchParams({ ...asked, response_type: 'code', scope: 'openid', nonce: 'n' });
      const back = new URL(await signIn(`${url}/auth?${page.toString()}`, user));
      const code = back.searchParams.get('code') ?? '';
      const body = new URLSearchParams({ ...asked, grant_type: 'authorization_code', client_secret: client.clientSecret, code });
      const given = (await (await fetch(`${url}/token`, { method: 'POST', body })).json()) as Readonly<Record<string, string>>;
      if (given['access_token'] === undefined) throw new Error(JSON.stringify(given));
      return { access: given['access_token'], id: given['id_token'] ?? '' };
    },
    sign: async (claims, header = {}, signing = key) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'first', typ: 'at+jwt', ...header })
        .sign(await importJWK(signing, header.alg ?? 'RS256')),
    stop: () =>
      new Promise<void>((resolve) => {
        sockets.close(() => resolve());
        sockets.closeAllConnections();
      }),
  };
}
