import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { Issuer } from './parts';

type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

const style = `:root{color-scheme:light dark}body{font:17px/1.5 system-ui,sans-serif;margin:4rem auto;max-width:24rem;padding:0 1rem}
h1{font-size:1.4rem}p{overflow-wrap:anywhere}a.button,button,input{box-sizing:border-box;display:block;width:100%;min-height:3rem;padding:.6rem;margin:.5rem 0;font:inherit;border:1px solid #8886;border-radius:6px}
a.button,button{font-weight:600;text-align:center;text-decoration:none;background:#17653a;color:#fff}.problem{border-left:4px solid #a3231f;padding-left:.75rem}`;

/** Without an Origin, which "no-referrer" would hide, the form could not be told from a form of another site. */
export const loginHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
};

export interface LoginPage {
  /** From the address of the page to the root of the service: relative, because a proxy may serve the service below a path. */
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
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Holdfast: log in</title>
        ${raw(`<style>${style}</style>`)}
      </head>
      <body>
        <main>
          <h1>${out === undefined ? 'Log in to Holdfast' : 'You are logged out'}</h1>
          ${problem === undefined ? '' : html`<p class="problem" role="alert">${problem}</p>`}
          ${endSession === undefined ? '' : html`<p><a href="${endSession}">Log out at ${hostOf(endSession)}, too</a></p>`}
          ${logins.map(
            ({ issuer }, index) =>
              html`<a class="button" href="${root}login/start?issuer=${index}&to=${encodeURIComponent(to)}"
                >Log in at ${hostOf(issuer)}</a
              >`,
          )}
          ${hasKeys ? keyForm(root, to) : ''}
        </main>
      </body>
    </html>`;
}

function keyForm(root: string, to: string): Html {
  return html`<form method="post" action="${root}login/key">
    <input type="hidden" name="to" value="${to}" />
    <label>API key <input type="password" name="key" required autocomplete="off" spellcheck="false" /></label>
    <button>Log in with the key</button>
  </form>`;
}

function hostOf(url: string): string {
  return new URL(url).host;
}
