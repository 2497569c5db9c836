import { html } from 'hono/html';
import { page, type Html } from './page';
import type { Issuer } from './parts';

export interface LoginPage {
  /** From the address of the page to the root of the service. */
  readonly root: '' | '../';
  /** A path of the service. */
  readonly to: string;
  readonly logins: readonly Issuer[];
  readonly hasKeys: boolean;
  readonly problem?: string;
  /** After a log-out: a page of the issuer, if the issuer has one. */
  readonly out?: { readonly endSession?: string };
}

export function loginPage({ root, to, logins, hasKeys, problem, out }: LoginPage): Html {
  const endSession = out?.endSession;
  return page(
    'log in',
    out === undefined ? 'Log in to Holdfast' : 'You are logged out',
    html`${problem === undefined ? '' : html`<p class="problem" role="alert">${problem}</p>`}
    ${endSession === undefined ? '' : html`<p><a href="${endSession}">Log out at ${hostOf(endSession)}, too</a></p>`}
    ${logins.map(
      ({ issuer }, index) =>
        html`<a class="button yes" href="${root}login/start?issuer=${index}&to=${encodeURIComponent(to)}">Log in at ${hostOf(issuer)}</a>`,
    )}
    ${hasKeys ? keyForm(root, to) : ''}`,
    'narrow',
  );
}

function keyForm(root: string, to: string): Html {
  return html`<form method="post" action="${root}login/key">
    <input type="hidden" name="to" value="${to}" />
    <label>API key <input type="password" name="key" required autocomplete="off" spellcheck="false" /></label>
    <button class="yes">Log in with the key</button>
  </form>`;
}

function hostOf(url: string): string {
  return new URL(url).host;
}
