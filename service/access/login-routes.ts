import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { Principal } from '../../contract/access';
import { defined } from '../../contract/defined';
import type { ErrorCode } from '../../contract/errors';
import { HoldfastError, errorTable } from '../../contract/errors';
import type { MaybePromise } from '../../contract/maybe-promise';
import { parseForm } from '../http/parse-request';
import { Routes } from '../http/routes';
import type { AppParts } from '../parts';
import type { AccessParts } from './access';
import { whoOf } from './audit';
import type { LoginPage } from './login-page';
import { loginPage } from './login-page';
import { Logins, loginAddress, ownPath } from './logins';
import { checkOrigin } from './origin';
import { answerPage, type Html } from './page';

export type LoginParts = Pick<AppParts, 'logger' | 'publicUrl'> & Pick<AccessParts, 'options' | 'keys' | 'issuers' | 'sessions' | 'audit'>;

const formLimit = 8_192;

const Page = z.strictObject({ to: z.string().optional(), out: z.string().optional() });
const Start = z.strictObject({ issuer: z.string(), to: z.string().optional() });
const KeyForm = z.strictObject({ key: z.string(), to: z.string().optional() });

/** Pages and redirects for browsers. Addresses are relative, because a proxy may serve the service below a path. */
export function loginRoutes(parts: LoginParts): Hono {
  const { issuers, sessions, publicUrl, audit } = parts;
  const logins = new Logins(issuers);
  const page = { 200: { says: 'A page.', type: 'text/html' } } as const;
  const moved = { 303: { says: 'The next page.' } } as const;
  return new Routes('Service')
    .add(
      'GET /login',
      { may: 'anybody', summary: 'The login, for people.', query: Page, answers: page },
      ({ query: { to, out }, context }) =>
        onPage(parts, context, '', to, async (shownPage) => {
          loginAddress(context.req.raw, publicUrl);
          if (out === undefined) return context.html(loginPage(shownPage));
          const issuer = issuers.logins[Number(out)];
          const endSession = issuer && (await logins.endSessionUrl(issuer).catch(() => undefined));
          return context.html(loginPage({ ...shownPage, out: defined({ endSession }) }));
        }),
    )
    .add(
      'GET /login/start',
      { may: 'anybody', summary: 'Begins a login at an issuer.', query: Start, answers: moved },
      ({ query: { issuer, to }, context }) =>
        onPage(parts, context, '../', to, async (shownPage) => {
          const at = issuers.logins[Number(issuer)];
          if (at === undefined) throw new HoldfastError('login-failed', 'The issuer is not configured.');
          const url = await logins.start(context, at, loginAddress(context.req.raw, publicUrl), shownPage.to);
          return context.redirect(url.href, 303);
        }),
    )
    .add('GET /login/callback', { may: 'anybody', summary: 'Ends a login at an issuer.', anyQuery: true, answers: moved }, ({ context }) =>
      onPage(parts, context, '../', undefined, async () => {
        const { principal, issuer, to } = await logins.finish(context, loginAddress(context.req.raw, publicUrl));
        await sessions.begin(context, { principal, from: { issuer } });
        void audit.write({ what: 'login', ...whoOf(principal) });
        return context.redirect(`..${to}`, 303);
      }),
    )
    .add(
      'POST /login/key',
      { may: 'anybody', summary: 'A login with an API key.', ownBody: KeyForm, answers: moved },
      async ({ context }) => {
        const field = await parseForm(context, formLimit);
        return onPage(parts, context, '../', field('to'), async (shownPage) => {
          loginAddress(context.req.raw, publicUrl);
          checkOrigin(context.req.raw, publicUrl);
          const principal = await principalOfKey(parts, field('key').trim());
          await sessions.begin(context, { principal, from: { key: principal.proof.replace(/^key:/, '') } });
          void audit.write({ what: 'login', ...whoOf(principal) });
          return context.redirect(`..${shownPage.to}`, 303);
        });
      },
    )
    .add('POST /logout', { may: 'anybody', summary: 'Ends the session of a browser.', answers: moved }, async ({ context }) => {
      checkOrigin(context.req.raw, publicUrl);
      const session = await sessions.end(context);
      if (session !== undefined) void audit.write({ what: 'logout', ...whoOf(session.principal) });
      const from = session?.from;
      const index = issuers.logins.findIndex(({ issuer }) => from !== undefined && 'issuer' in from && issuer === from.issuer);
      return context.redirect(`login?out=${index}`, 303);
    }).app;
}

function principalOfKey({ options, keys }: LoginParts, key: string): Promise<Principal> {
  if (options.keys === false) throw new HoldfastError('login-failed', 'A login with a key is not possible: keys are off.');
  return keys.identify(key);
}

type ShownPage = Omit<LoginPage, 'problem' | 'out'>;

function onPage(
  { options, issuers, logger, audit }: LoginParts,
  context: Context,
  root: LoginPage['root'],
  to: string | undefined,
  answer: (shownPage: ShownPage) => MaybePromise<Response>,
): Promise<Response> {
  const shownPage: ShownPage = { root, to: ownPath(to), logins: issuers.logins, hasKeys: options.keys !== false };
  const problem = (code: ErrorCode, message: string): Html => {
    void audit.write({ what: 'refusal', code });
    return loginPage({ ...shownPage, problem: `${message} ${errorTable[code].fix}` });
  };
  // Without an Origin, which "no-referrer" would hide, the form could not be told from a form of another site.
  return answerPage(context, { logger, referrer: 'same-origin', problem }, () => answer(shownPage));
}
