import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { errorTable, type ErrorCode } from '../../contract/errors';
import type { MaybePromise } from '../../contract/maybe-promise';
import type { Logger } from '../../host/logger';
import { shownPath, toldError } from '../http/error-response';

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

const style = `*{box-sizing:border-box}:root{color-scheme:light dark}body{font:17px/1.5 system-ui,sans-serif;margin:0 auto;max-width:44rem;padding:1rem}
main.narrow{max-width:24rem;margin:3rem auto}h1{font-size:1.4rem}h1,p,dd,pre{overflow-wrap:anywhere}dt{opacity:.8}dd{margin:0 0 .6rem}
pre{font:14px/1.45 ui-monospace,monospace;white-space:pre-wrap;padding:.75rem}pre,a.button,button{border:1px solid #8886;border-radius:6px}
textarea,input,select{font:inherit;width:100%;padding:.6rem;margin:.3rem 0 1rem}
a.button,button{display:block;font:inherit;font-weight:600;text-align:center;text-decoration:none;width:100%;min-height:3.2rem;padding:.6rem;margin:.75rem 0}
.yes{background:#17653a;color:#fff}.no{background:#a3231f;color:#fff}.problem{border-left:4px solid #a3231f;padding-left:.75rem}`;

const headers = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
};

/** `body` has no script: the headers of `answerPage` allow only the style. */
export function page(name: string, heading: Html | string, body: Html, width: 'narrow' | 'wide' = 'wide'): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Holdfast: ${name}</title>
        ${raw(`<style>${style}</style>`)}
      </head>
      <body>
        <main class="${width}">
          <h1>${heading}</h1>
          ${body}
        </main>
      </body>
    </html>`;
}

interface PageParts {
  readonly logger: Logger;
  readonly referrer: 'no-referrer' | 'same-origin';
  readonly problem: (code: ErrorCode, message: string) => Html;
}

export async function answerPage(
  context: Context,
  { logger, referrer, problem }: PageParts,
  answer: () => MaybePromise<Response>,
): Promise<Response> {
  for (const [name, value] of Object.entries({ ...headers, 'referrer-policy': referrer })) context.header(name, value);
  try {
    return await answer();
  } catch (error) {
    const { code, message } = toldError(error, `${context.req.method} ${shownPath(context)}`, logger);
    return context.html(problem(code, message), errorTable[code].status as ContentfulStatusCode);
  }
}
